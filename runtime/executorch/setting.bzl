"""`from_sources`: whether ExecuTorch's headers are those of its source tree or those of its wheel.

An image with ExecuTorch's own runtime needs all its objects compiled with the headers of the runtime's
sources; every other one only needs the wheel. `executorch_firmware` builds such an image for each core.

Where EXECUTORCH_DIR names the sources, all images have their headers, so that both kinds of images share their
objects. Sources that would have to be fetched are left to the images that need them.
"""

load("@given_sources//:info.bzl", "GIVEN")
load("//platforms:firmware.bzl", "core_firmware", "firmware_rule", "firmware_targets")

# Whether EXECUTORCH_DIR is set.
SOURCES_GIVEN = bool(GIVEN["executorch"])

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

_executorch_firmware = core_firmware if SOURCES_GIVEN else firmware_rule(_to_core)

def executorch_firmware(image, **kwargs):
    """Declares targets that build an executorch_image for each core.

    Args:
      image: the image.
      **kwargs: of firmware_targets: `cores`, `targets`, ...
    """
    firmware_targets(
        rule = _executorch_firmware,
        image = image,
        # Needs ExecuTorch's sources: not in //..., whose tests say why if they cannot be had.
        tags = ["manual"],
        **kwargs
    )
