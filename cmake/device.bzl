"""`to_device`: the configuration from which the lists for firmware are generated."""

# The lists must be the same for every core; otherwise cmake_targets fails.
_CORE = "cortex_m55"

def _impl(_settings, _attr):
    return {"//command_line_option:platforms": str(Label("//platforms:" + _CORE))}

to_device = transition(
    implementation = _impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)
