"""`to_device`: the configuration in which the lists for firmware are looked up."""

# They are the same for every core, or cmake_targets refuses them.
_CORE = "cortex_m55"

def _impl(_settings, _attr):
    return {"//command_line_option:platforms": str(Label("//platforms:" + _CORE))}

to_device = transition(
    implementation = _impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)
