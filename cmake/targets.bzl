"""`cmake_targets`: the libraries and tests of the CMake build, as the BUILD files declare them.

Writes a call of cmsis_nn_delegate_library or cmsis_nn_delegate_test (library.cmake) for every cc_library and
cc_test that is given or reached through `deps`. The rule does not parse BUILD files: files, dependencies and
flags are those that Bazel builds with.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//cmake:device.bzl", "to_device")

# Implicit dependencies of cc_test, from Bazel 5 on.
_IMPLICIT_DEPS = ["link_extra_lib"]

CcTargets = provider(fields = {
    "targets": "depset of struct(kind, label, srcs, hdrs, deps, copts, defines, linkopts, alwayslink, testonly)",
})

def _aspect_impl(target, ctx):
    attributes = ctx.rule.attr
    deps = [d for d in getattr(attributes, "deps", []) if CcTargets in d]
    transitive = [d[CcTargets].targets for d in deps]
    if ctx.rule.kind not in ["cc_library", "cc_test"]:
        return [CcTargets(targets = depset(transitive = transitive))]
    return [CcTargets(targets = depset([struct(
        alwayslink = getattr(attributes, "alwayslink", False),
        copts = tuple(attributes.copts),
        defines = tuple(attributes.defines),
        deps = tuple([d.label for d in attributes.deps if d.label.name not in _IMPLICIT_DEPS]),
        hdrs = tuple(getattr(ctx.rule.files, "hdrs", [])),
        kind = ctx.rule.kind,
        label = target.label,
        linkopts = tuple(attributes.linkopts),
        srcs = tuple(ctx.rule.files.srcs),
        testonly = attributes.testonly,
    )], transitive = transitive, order = "postorder"))]

cc_targets_aspect = aspect(
    implementation = _aspect_impl,
    attr_aspects = ["deps"],
)

def cmake_path(file):
    """Returns the path of a file as library.cmake expects it: from the root of the repository."""
    if not file.is_source:
        fail("%s is generated: commit it, because the CMake build cannot generate it" % file.short_path)
    path = file.short_path
    if path.startswith("../"):  # this repository is a dependency of another one
        path = path[len("../"):].partition("/")[2]
    return path

def cmake_list(keyword, values, indent = "  "):
    """Returns a keyword and its values, one per line; nothing if there are no values."""
    if not values:
        return []
    return [indent + keyword] + [indent + "  " + value for value in values]

def _targets(roots):
    """Returns label -> its entry in CcTargets, dependencies first."""
    return {
        target.label: target
        for target in depset(
            transitive = [root[CcTargets].targets for root in roots],
            order = "postorder",
        ).to_list()
    }

def _deps(target, names):
    """Returns the CMake names of the dependencies, except those whose name in `imported` is ""."""
    for dep in target.deps:
        if dep not in names:
            fail("%s depends on %s, which the CMake build does not have: see //cmake:BUILD" % (target.label, dep))
    return [names[dep] for dep in target.deps if names[dep]]

def _copts(target):
    """Returns the flags of a library. What --//runtime/kernels:for_size chooses in Bazel is an option in CMake."""
    if not target.label.package.startswith("runtime/kernels/"):
        return target.copts
    chosen = "$<IF:$<BOOL:${CMSIS_NN_DELEGATE_KERNELS_FOR_SIZE}>,-Os,-O2>"
    return [chosen if option == "-O2" else option for option in target.copts]

def _lists(target, names):
    """Returns what is the same for the host and for a device."""
    hdrs = [cmake_path(file) for file in target.hdrs]
    srcs = [path for path in [cmake_path(file) for file in target.srcs] if path not in hdrs]
    return (
        cmake_list("SRCS", srcs) +
        cmake_list("HDRS", hdrs) +
        cmake_list("COPTS", _copts(target)) +
        cmake_list("LINKOPTS", target.linkopts) +
        cmake_list("DEPS", _deps(target, names))
    )

def _call(label, host, device, names, needs):
    """Returns the lines that declare a target; it is None for the host or a device if it does not exist there."""
    target = host or device
    lists = _lists(target, names)
    if host and device and _lists(device, names) != lists:
        fail("%s has other files, dependencies or flags for a device than for the host" % label)
    words = []
    if target.kind == "cc_library":
        words += [] if device else ["HOST"]
        words += [] if host else ["DEVICE"]
        words += ["ALWAYSLINK"] if target.alwayslink else []
        words += ["TESTONLY"] if target.testonly else []
    lines = ["", "# " + label]
    lines.append("cmsis_nn_delegate_%s(" % target.kind[len("cc_"):])
    lines.append("  " + " ".join([names[target.label]] + words))
    lines += cmake_list("NEEDS", needs)
    if host and device and host.defines != device.defines:
        lines += cmake_list("HOST_DEFINES", host.defines) + cmake_list("DEVICE_DEFINES", device.defines)
    else:
        lines += cmake_list("DEFINES", target.defines)
    return lines + lists + [")"]

def _impl(ctx):
    imported = {target.label: name for target, name in ctx.attr.imported.items()}
    host, device = _targets(ctx.attr.host), _targets(ctx.attr.device)
    labels = [
        label
        for label in {label: None for label in host.keys() + device.keys()}
        if label.workspace_name == ctx.label.workspace_name and label not in imported
    ]
    names = dict(imported)
    used = {}
    for label in labels:
        if label.name in used:
            fail("%s and %s have the same name in CMake" % (label, used[label.name]))
        used[label.name] = label
        names[label] = label.name

    # Dependencies come first, so those of a target are complete.
    needs = {target.label: [ctx.attr.imported[target]] for target in ctx.attr.optional}
    texts = {}
    for label in labels:
        target = host.get(label) or device.get(label)
        of_deps = {}
        for dep in target.deps:
            of_deps.update({name: None for name in needs.get(dep, [])})
        needs[label] = of_deps.keys()
        spoken = "//%s:%s" % (label.package, label.name)  # str(label) differs between versions of Bazel
        texts[spoken] = _call(spoken, host.get(label), device.get(label), names, needs[label])
    lines = [
        "# Generated from the BUILD files by `./bazelw run //cmake:generate`. Do not edit.",
    ]
    for spoken in sorted(texts):
        lines += texts[spoken]
    output = ctx.actions.declare_file(ctx.label.name + ".cmake")
    ctx.actions.write(output, "\n".join(lines) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

cmake_targets = rule(
    implementation = _impl,
    attrs = {
        "device": attr.label_list(
            aspects = [cc_targets_aspect],
            cfg = to_device,
            doc = "Libraries that firmware links.",
        ),
        "host": attr.label_list(
            aspects = [cc_targets_aspect],
            doc = "Libraries and tests for the host.",
        ),
        "imported": attr.label_keyed_string_dict(
            doc = "Libraries that CMake gets from elsewhere -> their name there, or \"\" if there is nothing to link.",
        ),
        "optional": attr.label_list(
            doc = "Libraries of `imported` that may be missing; targets that depend on them are then missing too.",
            providers = [CcInfo],
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
    doc = "The file <name>.cmake.",
)
