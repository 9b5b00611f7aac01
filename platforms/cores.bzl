"""The table of cores, the only source of all facts about a core.

Each entry of CORES:
  cpu           name of the core as in -mcpu, and as a target of the compiler
  architecture  "armv6-m", "armv7-m", "armv7e-m", "armv8-m.base", "armv8-m.main" or "armv8.1-m.main"
  isa           which of CMSIS-NN's kernels are compiled for it, one of ISAS
  flags         GCC's flags for the core
  other_flags   flags for a GCC that does not know this -mcpu: the same instructions, scheduled for another core; or []
  optional      the features that chips with this core may lack, and that GCC can do without, as GCC spells them after
                "no": "dsp" is that of -mcpu=cortex-m33+nodsp
  also_runs_on  other cores (as in -mcpu) that have every instruction of its images
  board         the board in boards.bzl that its images are linked for: of this core, or of one in also_runs_on
  tests         "all", or "few" if tests of other cores say nearly everything about this one: its instructions and kernels
                are those of such a core

TARGETS, which is computed, also has each core without some of its optional features: "cortex_m33_nodsp", whose cpu is
"cortex-m33+nodsp". Its entries have these fields, except `optional` and `tests`, and
  core     the core's cpu, "cortex-m33"
  without  the features that are switched off, with those that depend on them

Cores with an FPU pass floating-point arguments in its registers (-mfloat-abi=hard). The Cortex-M7 can have a
double-precision unit; single precision is chosen because its code runs on both.

Bazel's toolchains, platforms and `firmware` use these tables directly. CMake (platforms/cmake/tables.cmake), the
simulators (platforms/tables.json), the compiler (aot/cmsis_nn_delegate/targets/cores.py) and the documentation
(docs/reference/targets.md) use files that `./bazelw run //cmake:generate` writes from them.
"""

# The instruction sets that kernels and payloads distinguish, in the order of their numbers in a payload. A payload runs
# on every core with its instruction set.
ISAS = ["scalar", "dsp", "mve"]

_ARMV8_1_FEATURES = ["dsp", "mve", "mve.fp", "fp"]

# GCC knows -mcpu=cortex-m85 since 12.3 and cortex-m52 since 14; Debian 12 has 12.2. Pointer authentication and branch
# target identification, which both cores add to a Cortex-M55, are not used.
_ARMV8_1_FLAGS = [
    "-march=armv8.1-m.main+mve.fp+fp.dp",
    "-mtune=cortex-m55",
    "-mfloat-abi=hard",
]

# The first core with an instruction set is the one that `delegate_model` compiles models for.
CORES = {
    "cortex_m0plus": struct(
        cpu = "cortex-m0plus",
        architecture = "armv6-m",
        isa = "scalar",
        flags = ["-mcpu=cortex-m0plus", "-mfloat-abi=soft"],
        other_flags = [],
        optional = [],
        also_runs_on = ["cortex-m0"],
        board = "microbit",
        tests = "all",
    ),
    "cortex_m0": struct(
        cpu = "cortex-m0",
        architecture = "armv6-m",
        isa = "scalar",
        flags = ["-mcpu=cortex-m0", "-mfloat-abi=soft"],
        other_flags = [],
        optional = [],
        also_runs_on = ["cortex-m0plus"],
        board = "microbit",
        tests = "few",
    ),
    "cortex_m23": struct(
        cpu = "cortex-m23",
        architecture = "armv8-m.base",
        isa = "scalar",
        flags = ["-mcpu=cortex-m23", "-mfloat-abi=soft"],
        other_flags = [],
        optional = [],
        also_runs_on = ["cortex-m33"],
        board = "mps2_an505",
        tests = "few",
    ),
    "cortex_m3": struct(
        cpu = "cortex-m3",
        architecture = "armv7-m",
        isa = "scalar",
        flags = ["-mcpu=cortex-m3", "-mfloat-abi=soft"],
        other_flags = [],
        optional = [],
        also_runs_on = [],
        board = "mps2_an385",
        tests = "all",
    ),
    "cortex_m4": struct(
        cpu = "cortex-m4",
        architecture = "armv7e-m",
        isa = "dsp",
        flags = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
        other_flags = [],
        optional = ["fp"],
        also_runs_on = [],
        board = "mps2_an386",
        tests = "all",
    ),
    "cortex_m7": struct(
        cpu = "cortex-m7",
        architecture = "armv7e-m",
        isa = "dsp",
        flags = ["-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        other_flags = [],
        optional = ["fp"],
        also_runs_on = [],
        board = "mps2_an500",
        tests = "all",
    ),
    "cortex_m33": struct(
        cpu = "cortex-m33",
        architecture = "armv8-m.main",
        isa = "dsp",
        flags = ["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        other_flags = [],
        optional = ["dsp", "fp"],
        also_runs_on = [],
        board = "mps2_an505",
        tests = "all",
    ),
    "cortex_m35p": struct(
        cpu = "cortex-m35p",
        architecture = "armv8-m.main",
        isa = "dsp",
        flags = ["-mcpu=cortex-m35p", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        other_flags = [],
        optional = ["dsp", "fp"],
        also_runs_on = ["cortex-m33"],
        board = "mps2_an505",
        tests = "few",
    ),
    "cortex_m55": struct(
        cpu = "cortex-m55",
        architecture = "armv8.1-m.main",
        isa = "mve",
        flags = ["-mcpu=cortex-m55", "-mfloat-abi=hard"],
        other_flags = [],
        optional = _ARMV8_1_FEATURES,
        also_runs_on = [],
        board = "mps3_an547",
        tests = "all",
    ),
    "cortex_m52": struct(
        cpu = "cortex-m52",
        architecture = "armv8.1-m.main",
        isa = "mve",
        flags = ["-mcpu=cortex-m52", "-mfloat-abi=hard"],
        other_flags = _ARMV8_1_FLAGS,
        optional = _ARMV8_1_FEATURES,
        also_runs_on = ["cortex-m55"],
        board = "mps3_an547",
        tests = "few",
    ),
    "cortex_m85": struct(
        cpu = "cortex-m85",
        architecture = "armv8.1-m.main",
        isa = "mve",
        flags = ["-mcpu=cortex-m85", "-mfloat-abi=hard"],
        other_flags = _ARMV8_1_FLAGS,
        optional = _ARMV8_1_FEATURES,
        also_runs_on = ["cortex-m55"],
        board = "mps3_an547",
        tests = "all",
    ),
}

# The cores on which every test runs that has to run on simulated cores.
FULLY_TESTED = [name for name, core in CORES.items() if core.tests == "all"]

# Feature -> the features that GCC switches off with it, because they depend on it.
_DEPENDENT = {
    "dsp": ["mve", "mve.fp"],
    "fp": ["mve.fp"],
    "mve": ["mve.fp"],
    "mve.fp": [],
}

def _isa(core, without):
    if core.isa == "mve" and "mve" not in without:
        return "mve"
    return "scalar" if "dsp" in without else "dsp"

def _float_flags(flags, without):
    """Returns the flags of a core without the features that `without` has."""
    if "fp" not in without:
        return flags

    # The vector registers are those of the FPU, and pass vectors also without one.
    if "mve.fp" in without and "mve" not in without:
        return flags
    return ["-mfloat-abi=soft" if flag == "-mfloat-abi=hard" else flag for flag in flags if not flag.startswith("-mfpu=")]

def _march(flag, without):
    """Returns -march without these features; GCC has no +nomve there."""
    if not flag.startswith("-march="):
        return flag
    name, _, rest = flag.partition("+")
    left = [feature for feature in rest.split("+") if feature not in without and not ("fp" in without and feature == "fp.dp")]
    if "mve.fp" in rest.split("+") and "mve.fp" not in left:
        left = [feature for feature in ["mve", "dsp"] if feature not in without][:1] + left
    return "+".join([name] + left)

def _variants(core):
    """Returns what can be switched off: suffixes of cpu, "+nodsp+nofp" -> the features that are lost."""
    found = {}
    for number in range(1 << len(core.optional)):
        chosen = [feature for bit, feature in enumerate(core.optional) if (number >> bit) % 2]
        dependent = [other for feature in chosen for other in _DEPENDENT[feature] if other in core.optional]

        # A feature that depends on another chosen one is off anyway, so that it would be a second name.
        if not [feature for feature in chosen if feature in dependent]:
            lost = [feature for feature in core.optional if feature in chosen or feature in dependent]
            found["".join(["+no" + feature for feature in chosen])] = lost
    return found

def _target(core, suffix, without, variants):
    # The same core with more features runs the image, and so do the cores that run all of its images.
    more = [core.cpu + other for other, lost in variants.items() if other != suffix and not [f for f in lost if f not in without]]
    return struct(
        also_runs_on = more + core.also_runs_on,
        architecture = core.architecture,
        board = core.board,
        core = core.cpu,
        cpu = core.cpu + suffix,
        flags = _float_flags([flag + suffix if flag.startswith("-mcpu=") else flag for flag in core.flags], without),
        isa = _isa(core, without) if without else core.isa,
        other_flags = _float_flags([_march(flag, without) for flag in core.other_flags], without),
        without = without,
    )

def _name(cpu):
    """Returns the name of a target in Bazel and CMake."""
    return cpu.replace("-", "_").replace("+", "_").replace(".", "_")

TARGETS = {
    _name(core.cpu + suffix): _target(core, suffix, without, _variants(core))
    for core in CORES.values()
    for suffix, without in _variants(core).items()
}

def core_flags(name, known_cpus):
    """Returns the compiler flags of target `name`, given the -mcpu values that the compiler was found to accept."""
    target = TARGETS[name]
    if target.other_flags and target.core not in known_cpus:
        return target.other_flags
    return target.flags

def core_of_isa(isa):
    """Returns the first core in the table with this instruction set: the payloads of the others are the same."""
    return [core for core in CORES.values() if core.isa == isa][0]

def select_core(values, default):
    """Returns a select() with an entry of `values` for each core or target, and `default` for what has none."""
    branches = {str(Label("//platforms:is_" + name)): value for name, value in values.items()}
    branches["//conditions:default"] = default
    return select(branches)
