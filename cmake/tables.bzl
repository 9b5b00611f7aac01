"""`cmake_tables`: the tables of cores and flags, and the lists of sources, as CMake variables."""

load("//cmake:device.bzl", "to_device")
load("//cmake:targets.bzl", "CcTargets", "cc_targets_aspect", "cmake_path")
load("//platforms:cores.bzl", "TARGETS")
load("//platforms/arm_gcc:flags.bzl", "FLAGS")
load("//third_party:pins.bzl", "PINS")
load("//third_party/cmsis_nn:sources.bzl", "CMSIS_NN_SOURCES")

_HEADER = "# Generated from %s by `./bazelw run //cmake:generate`. Do not edit.\n"

def _set(name, values):
    if len(values) == 1:
        return "set(%s \"%s\")\n" % (name, values[0])
    return "set(%s\n%s)\n" % (name, "".join(["    \"%s\"\n" % value for value in values]))

def _write(ctx, suffix, of, texts):
    output = ctx.actions.declare_file(ctx.label.name + suffix)
    ctx.actions.write(output, _HEADER % of + "".join(texts))
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

def _platforms_impl(ctx):
    texts = ["\n# TARGETS of platforms/cores.bzl\n", _set("CMSIS_NN_DELEGATE_CORES", TARGETS.keys())]
    for name, target in TARGETS.items():
        prefix = "CMSIS_NN_DELEGATE_CORE_%s_" % name
        texts += [
            "\n",
            _set(prefix + "CPU", [target.cpu]),
            _set(prefix + "FLAGS", target.flags),
            _set(prefix + "ISA", [target.isa]),
            _set(prefix + "BOARD", [target.board]),
        ]
        if target.other_flags:
            texts.append(_set(prefix + "OTHER_FLAGS", target.other_flags))
    texts += [
        "\n# platforms/arm_gcc/flags.bzl\n",
        _set("CMSIS_NN_DELEGATE_ARM_COMMON", FLAGS.common),
        _set("CMSIS_NN_DELEGATE_ARM_C", FLAGS.c),
        _set("CMSIS_NN_DELEGATE_ARM_CXX", FLAGS.cxx),
        _set("CMSIS_NN_DELEGATE_ARM_LINK", FLAGS.link),
        "\n# platforms/bsp/BUILD\n",
    ]
    for name, library in [("BSP", ctx.attr.bsp[0]), ("ABORT", ctx.attr.abort[0])]:
        (target,) = [t for t in library[CcTargets].targets.to_list() if t.label == library.label]
        texts.append(_set("CMSIS_NN_DELEGATE_%s_SRCS" % name, [cmake_path(file) for file in target.srcs]))
        if target.copts:
            texts.append(_set("CMSIS_NN_DELEGATE_%s_COPTS" % name, target.copts))
    texts.append(_set("CMSIS_NN_DELEGATE_BSP_BOARD_SRCS", [cmake_path(file) for file in ctx.files.board]))
    return _write(ctx, ".cmake", "the tables of platforms/", texts)

cmake_platforms = rule(
    implementation = _platforms_impl,
    attrs = {
        "abort": attr.label(aspects = [cc_targets_aspect], cfg = to_device, mandatory = True),
        "board": attr.label(mandatory = True),
        "bsp": attr.label(aspects = [cc_targets_aspect], cfg = to_device, mandatory = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

def _cmsis_nn_impl(ctx):
    return _write(ctx, ".cmake", "sources.bzl and ../pins.bzl", [
        "\n",
        _set("CMSIS_NN_COMMIT", [PINS["cmsis_nn"]["commit"]]),
        _set("CMSIS_NN_SOURCES", CMSIS_NN_SOURCES),
    ])

cmake_cmsis_nn = rule(implementation = _cmsis_nn_impl)
