"""The table of cores, the only source of all facts about a core.

Each entry:
  cpu           name of the core as in -mcpu, and as a target of the compiler
  architecture  "armv6-m", "armv7-m", "armv7e-m", "armv8-m.base", "armv8-m.main" or "armv8.1-m.main"
  isa           which of CMSIS-NN's kernels are compiled for it, one of ISAS
  flags         GCC's flags for the core
  other_flags   flags for a GCC that does not know this -mcpu: the same instructions, scheduled for another core; or []
  also_runs_on  other cores (as in -mcpu) that have every instruction of its images

Cores with an FPU pass floating-point arguments in its registers (-mfloat-abi=hard). The Cortex-M7 can have a
double-precision unit; single precision is chosen because its code runs on both.

Bazel's toolchains, platforms and `firmware` use this table directly. CMake (platforms/cmake/tables.cmake), the
simulators (platforms/tables.json) and the compiler (aot/cmsis_nn_delegate/cores.py) use files that
`./bazelw run //cmake:generate` writes from it.
"""

# The instruction sets that kernels and payloads distinguish, in the order of their numbers in a payload. A payload runs
# on every core with its instruction set.
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
        # GCC knows -mcpu=cortex-m85 since 12.3; Debian 12 has 12.2. Pointer authentication and branch target identification, which the M85 adds, are not used.
        other_flags = [
            "-march=armv8.1-m.main+mve.fp+fp.dp",
            "-mtune=cortex-m55",
            "-mfloat-abi=hard",
        ],
        also_runs_on = ["cortex-m55"],
    ),
}

def core_flags(name, known_cpus):
    """Returns the compiler flags of core `name`, given the -mcpu values that the compiler was found to accept."""
    core = CORES[name]
    if core.other_flags and core.cpu not in known_cpus:
        return core.other_flags
    return core.flags

def core_of_isa(isa):
    """Returns the first core in the table with this instruction set: the payloads of the others are the same."""
    return [core for core in CORES.values() if core.isa == isa][0]

def select_core(values, default):
    """Returns a select() with an entry of `values` for each core, and `default` for the host."""
    branches = {str(Label("//platforms:is_" + name)): value for name, value in values.items()}
    branches["//conditions:default"] = default
    return select(branches)
