"""`absent_library`: replaces a library whose sources are unavailable.

Targets that depend on it can be analyzed, for instance to list their sources; compiling them fails with the
reason. An incompatible target in its place would prevent both.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")

def _impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + "_absent.h")
    ctx.actions.run_shell(
        outputs = [header],
        arguments = [ctx.attr.reason],
        command = "echo \"$1\" >&2; exit 1",
        mnemonic = "AbsentLibrary",
        progress_message = "Looking for the sources of %s" % ctx.label,
    )
    context = cc_common.create_compilation_context(headers = depset([header]))
    return [CcInfo(compilation_context = context)]

absent_library = rule(
    implementation = _impl,
    attrs = {"reason": attr.string(mandatory = True)},
)
