"""What kernels are compiled for: speed, or `--//runtime/kernels:for_size`.

    small_firmware(image = ":image", cores = ["cortex_m4"], targets = "{core}_small")

builds an image for its cores with kernels that are compiled for size, whatever the command line says. Those of CMSIS-NN
are always compiled for speed: with -Os they take up to 60 % more instructions.
"""

load("//platforms:firmware.bzl", "firmware_rule", "firmware_targets")

_FOR_SIZE = str(Label("//runtime/kernels:for_size"))

# Inner loops: speed is worth more flash here than in the rest of the runtime.
KERNEL_COPTS = select({
    str(Label("//runtime/kernels:is_for_size")): ["-Os"],
    "//conditions:default": ["-O2"],
})

def _setting_impl(_ctx):
    return []

bool_setting = rule(
    implementation = _setting_impl,
    build_setting = config.bool(flag = True),
)

def _to_core_impl(_settings, attr):
    return {
        _FOR_SIZE: True,
        "//command_line_option:compilation_mode": attr.mode,
        "//command_line_option:platforms": str(Label("//platforms:" + attr.core)),
    }

_to_core = transition(
    implementation = _to_core_impl,
    inputs = [],
    outputs = [
        _FOR_SIZE,
        "//command_line_option:compilation_mode",
        "//command_line_option:platforms",
    ],
)

_core_firmware = firmware_rule(_to_core)

def small_firmware(image, **kwargs):
    """Declares targets that build an image for each core, with kernels that are compiled for size.

    Args:
      image: a `firmware` or firmware_image.
      **kwargs: of firmware_targets: `cores`, `targets`, ...
    """
    firmware_targets(
        rule = _core_firmware,
        image = image,
        **kwargs
    )
