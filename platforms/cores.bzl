"""The supported cores: the one table that everything about a core is taken from.

Each entry:
  cpu    name of the core as in -mcpu, and as the AOT side's target
  flags  that select it in GCC
  isa    the kernels that CMSIS-NN compiles to on it: scalar, dsp or mve
  board  of boards.bzl, on which its images are linked and simulated
  note   where the board's core is another one: what that means; else ""

Floating point is in hardware registers (-mfloat-abi=hard) on every core with an FPU. The Cortex-M7
can have a double-precision unit; single precision is chosen because its code runs on both.
"""

CORES = {
    "cortex_m0plus": struct(
        cpu = "cortex-m0plus",
        flags = ["-mcpu=cortex-m0plus", "-mfloat-abi=soft"],
        isa = "scalar",
        board = "microbit",
        note = "simulated on a Cortex-M0, which has the same instructions (Armv6-M); " +
               "QEMU has no Cortex-M0+",
    ),
    "cortex_m3": struct(
        cpu = "cortex-m3",
        flags = ["-mcpu=cortex-m3", "-mfloat-abi=soft"],
        isa = "scalar",
        board = "mps2_an385",
        note = "",
    ),
    "cortex_m4": struct(
        cpu = "cortex-m4",
        flags = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        isa = "dsp",
        board = "mps2_an386",
        note = "",
    ),
    "cortex_m7": struct(
        cpu = "cortex-m7",
        flags = ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        isa = "dsp",
        board = "mps2_an500",
        note = "",
    ),
    "cortex_m33": struct(
        cpu = "cortex-m33",
        flags = ["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        isa = "dsp",
        board = "mps2_an505",
        note = "",
    ),
    "cortex_m55": struct(
        cpu = "cortex-m55",
        flags = ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
        isa = "mve",
        board = "mps3_an547",
        note = "",
    ),
    "cortex_m85": struct(
        cpu = "cortex-m85",
        flags = ["-mcpu=cortex-m85", "-mfloat-abi=hard"],
        isa = "mve",
        board = "mps3_an547",
        note = "simulated on a Cortex-M55, which has the same vector extension; " +
               "QEMU has no Cortex-M85",
    ),
}

# For a compiler that does not know the -mcpu value: the same instruction set, scheduled for another
# core. Pointer authentication and branch target identification, which the M85 adds, are not used.
SUBSTITUTE_FLAGS = {
    "cortex_m85": [
        "-march=armv8.1-m.main+mve.fp+fp.dp",
        "-mtune=cortex-m55",
        "-mfloat-abi=hard",
    ],
}

def core_flags(name, known_cpus):
    """The compiler flags of core `name`, given the probed -mcpu values that the compiler knows."""
    if name in SUBSTITUTE_FLAGS and CORES[name].cpu not in known_cpus:
        return SUBSTITUTE_FLAGS[name]
    return CORES[name].flags

def select_core(values, default):
    """A select() with an entry of `values` per core, and `default` for the host."""
    branches = {str(Label("//platforms:is_" + name)): value for name, value in values.items()}
    branches["//conditions:default"] = default
    return select(branches)
