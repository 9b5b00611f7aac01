"""The table of cores: everything about a core is taken from here.

Each entry:
  cpu           name of the core as in -mcpu, and as the AOT side's target
  architecture  of its instructions: "armv6-m", "armv7-m", "armv7e-m", "armv8-m.base", "armv8-m.main",
                "armv8.1-m.main"
  isa           the kernels that CMSIS-NN compiles to on it, one of ISAS
  flags         that select the core in GCC
  other_flags   for a GCC that does not know this -mcpu: the same instructions, scheduled for another core; else []
  also_runs_on  other cores (as in -mcpu) that have every instruction of its images

Floating point is in hardware registers (-mfloat-abi=hard) on every core with an FPU. The Cortex-M7
can have a double-precision unit; single precision is chosen because its code runs on both.

What is read from this table: the toolchains, platforms and `firmware` of Bazel; after `./bazelw run //cmake:generate`
CMake (platforms/cmake/tables.cmake), the simulators (platforms/tables.json) and the compiler's targets
(aot/cmsis_nn_delegate/cores.py).
"""

# Instruction sets, as kernels and payloads differ by them; in the order of their numbers in a payload. A payload for one
# runs on each core with it.
ISAS = ["scalar", "dsp", "mve"]

CORES = {
    "cortex_m0plus": struct(
        cpu = "cortex-m0plus",
        architecture = "armv6-m",
        isa = "scalar",
        flags = ["-mcpu=cortex-m0plus", "-mfloat-abi=soft"],
        other_flags = [],
        also_runs_on = ["cortex-m0"],
    ),
    "cortex_m3": struct(
        cpu = "cortex-m3",
        architecture = "armv7-m",
        isa = "scalar",
        flags = ["-mcpu=cortex-m3", "-mfloat-abi=soft"],
        other_flags = [],
        also_runs_on = [],
    ),
    "cortex_m4": struct(
        cpu = "cortex-m4",
        architecture = "armv7e-m",
        isa = "dsp",
        flags = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        other_flags = [],
        also_runs_on = [],
    ),
    "cortex_m7": struct(
        cpu = "cortex-m7",
        architecture = "armv7e-m",
        isa = "dsp",
        flags = ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        other_flags = [],
        also_runs_on = [],
    ),
    "cortex_m33": struct(
        cpu = "cortex-m33",
        architecture = "armv8-m.main",
        isa = "dsp",
        flags = ["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        other_flags = [],
        also_runs_on = [],
    ),
    "cortex_m55": struct(
        cpu = "cortex-m55",
        architecture = "armv8.1-m.main",
        isa = "mve",
        flags = ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
        other_flags = [],
        also_runs_on = [],
    ),
    "cortex_m85": struct(
        cpu = "cortex-m85",
        architecture = "armv8.1-m.main",
        isa = "mve",
        flags = ["-mcpu=cortex-m85", "-mfloat-abi=hard"],
        # -mcpu=cortex-m85 is known since GCC 12.3; Debian 12 has 12.2. Pointer authentication and branch target identification, which the M85 adds, are not used.
        other_flags = [
            "-march=armv8.1-m.main+mve.fp+fp.dp",
            "-mtune=cortex-m55",
            "-mfloat-abi=hard",
        ],
        also_runs_on = ["cortex-m55"],
    ),
}

def core_flags(name, known_cpus):
    """The compiler flags of core `name`, given the probed -mcpu values that the compiler knows."""
    core = CORES[name]
    if core.other_flags and core.cpu not in known_cpus:
        return core.other_flags
    return core.flags

def core_of_isa(isa):
    """The first core of the table with this instruction set: the payloads of the others are the same."""
    return [core for core in CORES.values() if core.isa == isa][0]

def select_core(values, default):
    """A select() with an entry of `values` per core, and `default` for the host."""
    branches = {str(Label("//platforms:is_" + name)): value for name, value in values.items()}
    branches["//conditions:default"] = default
    return select(branches)
