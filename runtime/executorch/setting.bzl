"""`from_sources`: whether ExecuTorch's headers are those of its source tree or those of its wheel.

An image with ExecuTorch's own runtime needs all its objects compiled with the headers of the runtime's
sources; every other one only needs the wheel. `executorch_firmware` builds such an image for each core.
"""

load("//platforms:firmware.bzl", "firmware_rule", "firmware_targets")

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

_core_firmware = firmware_rule(_to_core)

def executorch_firmware(image, **kwargs):
    """Declares targets that build an executorch_image for each core.

    Args:
      image: the image.
      **kwargs: of firmware_targets: `cores`, `targets`, ...
    """
    firmware_targets(
        rule = _core_firmware,
        image = image,
        # Needs ExecuTorch's sources: not in //..., whose tests say why if they cannot be had.
        tags = ["manual"],
        **kwargs
    )
