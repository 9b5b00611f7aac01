"""`pack_files`: the files of each component of the CMSIS-Pack, as the BUILD files declare them."""

load("//cmake:device.bzl", "to_device")
load("//cmake:targets.bzl", "CcTargets", "cc_targets_aspect", "cmake_path")

def _impl(ctx):
    seen = {}
    components = {}
    for library, component in ctx.attr.libraries.items():
        files = components.setdefault(component, [])
        for target in library[CcTargets].targets.to_list():
            if target.label.workspace_name != ctx.label.workspace_name:
                continue  # ExecuTorch's headers
            for path in [cmake_path(file) for file in target.srcs + target.hdrs]:
                if path not in seen:
                    seen[path] = None
                    files.append(path)
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode({name: sorted(files) for name, files in components.items()}) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

pack_files = rule(
    implementation = _impl,
    attrs = {
        "libraries": attr.label_keyed_string_dict(
            aspects = [cc_targets_aspect],
            cfg = to_device,
            doc = "Libraries -> their component. With them come those that they depend on, unless an earlier one has them.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = "The file <name>.json: the sources and headers by component.",
)
