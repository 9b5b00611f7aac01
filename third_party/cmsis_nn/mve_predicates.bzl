"""`mve_predicates`: refuses sources that the compiler of the current core would miscompile.

See mve_predicates.py. The output is a header without definitions, with the result in a comment.
"""

load("@arm_gcc//:info.bzl", "ARM_GCC")
load("//platforms:cores.bzl", "TARGETS", "core_flags", "select_core")

def _impl(ctx):
    arguments = ctx.actions.args()
    arguments.add("--output", ctx.outputs.header)
    if ctx.attr.flags:
        arguments.add("--compiler", ARM_GCC.tools["gcc"])
        arguments.add_all(ctx.attr.flags, format_each = "--flag=%s")
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = ctx.files.srcs + ctx.files._compiler,
        outputs = [ctx.outputs.header],
        mnemonic = "MvePredicates",
        progress_message = "Checking MVE predicates %s" % ctx.label,
        use_default_shell_env = True,
    )

_mve_predicates = rule(
    implementation = _impl,
    attrs = {
        "flags": attr.string_list(doc = "Flags that select a core with MVE; empty for other cores."),
        "header": attr.output(mandatory = True),
        "srcs": attr.label_list(allow_files = True),
        "_compiler": attr.label(default = "@arm_gcc//:files"),
        "_tool": attr.label(
            default = "//third_party/cmsis_nn:mve_predicates",
            executable = True,
            cfg = "exec",
        ),
    },
)

def mve_predicates(name, srcs, **kwargs):
    """Writes the header `name` if `srcs` are safe on the core of the current build."""
    _mve_predicates(
        name = name + "_check",
        srcs = srcs,
        flags = select_core(
            {
                name: core_flags(name, ARM_GCC.cpus) if target.isa == "mve" else []
                for name, target in TARGETS.items()
            },
            default = [],
        ),
        header = name,
        **kwargs
    )
