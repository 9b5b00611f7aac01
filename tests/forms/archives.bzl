"""`core_archives`: the static libraries that images for a core are linked from, in a folder of the target's name.

`archives`: those of the platform that is being built.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//platforms:firmware.bzl", "to_core")

def _impl(ctx):
    archives = depset([
        library.static_library or library.pic_static_library
        for dep in ctx.attr.deps
        for item in dep[CcInfo].linking_context.linker_inputs.to_list()
        for library in item.libraries
        if library.static_library or library.pic_static_library
    ])
    outputs = []
    for archive in archives.to_list():
        # In runfiles, those of all cores would have the same path.
        output = ctx.actions.declare_file("%s/%s" % (ctx.label.name, archive.short_path.replace("../", "")))
        ctx.actions.symlink(output = output, target_file = archive)
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(outputs))]

core_archives = rule(
    implementation = _impl,
    attrs = {
        "core": attr.string(mandatory = True, doc = "One of TARGETS in cores.bzl."),
        "deps": attr.label_list(cfg = to_core, providers = [CcInfo], mandatory = True),
        "mode": attr.string(default = "opt", doc = "That of images, so that nothing is compiled again."),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)

archives = rule(
    implementation = _impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo], mandatory = True)},
)
