"""`from_sources`: whether ExecuTorch's headers are those of its source tree or those of its wheel.

An image with ExecuTorch's own runtime needs all its objects compiled with the headers of the runtime's
sources; every other one only needs the wheel. `executorch_firmware` is `firmware` for such an image.
"""

load("//platforms:firmware.bzl", "firmware_rule")

_SETTING = str(Label("//runtime/executorch:from_sources"))

def _setting_impl(_ctx):
    return []

bool_setting = rule(
    implementation = _setting_impl,
    build_setting = config.bool(flag = True),
)

def _to_core_impl(_settings, attr):
    return {
        _SETTING: True,
        "//command_line_option:compilation_mode": attr.mode,
        "//command_line_option:platforms": str(Label("//platforms:" + attr.core)),
    }

_to_core = transition(
    implementation = _to_core_impl,
    inputs = [],
    outputs = [
        _SETTING,
        "//command_line_option:compilation_mode",
        "//command_line_option:platforms",
    ],
)

executorch_firmware = firmware_rule(_to_core)
