"""Firmware images, built without command-line flags.

    firmware(
        name = "image",
        deps = [":main"],
    )

declares a target for every one of TARGETS in cores.bzl, named after it, with these files in bazel-bin/<package>/:

    <core>.elf  .bin  .hex  .map  .size (for people)  .size.json (for tools)  .board.json (for the simulators)

Each is linked for the board that cores.bzl names; for others, see `boards` and board.bzl. `bazel build //...` builds
those of FULLY_TESTED, the others if they are asked for: `bazel build //my_package:cortex_m33_nodsp`.

tools/check_image.py refuses an image that contains the heap or C++ exception handling.
"""

load("@arm_gcc//:info.bzl", "ARM_GCC")
load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//platforms:board.bzl", "BoardInfo")
load("//platforms:cores.bzl", "FULLY_TESTED", "TARGETS", "select_core")
load("//third_party:components.bzl", "components")

_SUFFIXES = ["board.json", "elf", "bin", "hex", "map", "size", "size.json"]

def _check_board(ctx, board):
    """Fails if the core of `board` does not run images for the core that is built for."""
    for core in TARGETS.values():
        if core.cpu == ctx.attr.core and board.core not in [core.cpu] + core.also_runs_on:
            fail("%s: board %s has a %s, which does not run images for %s" % (
                ctx.label,
                board.name,
                board.core,
                core.cpu,
            ))

def _link(ctx, linker_script, elf, map_file):
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    infos = [d[CcInfo] for d in ctx.attr.deps] + [ctx.attr.board[BoardInfo].code]
    info = cc_common.merge_cc_infos(cc_infos = infos)
    objects = []
    archives = []
    flags = []
    inputs = [linker_script]
    for item in info.linking_context.linker_inputs.to_list():
        flags += item.user_link_flags
        inputs += item.additional_inputs
        for library in item.libraries:
            if library.alwayslink:
                objects += library.objects
            elif library.static_library:
                archives.append(library.static_library)
            elif library.pic_static_library:
                archives.append(library.pic_static_library)
    variables = cc_common.create_link_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        is_linking_dynamic_library = False,
        output_file = elf.path,
        user_link_flags = flags,
    )
    arguments = ctx.actions.args()
    arguments.add_all(cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_link_executable,
        variables = variables,
    ))
    arguments.add_all(objects)
    arguments.add("-Wl,--start-group")
    arguments.add_all(archives)
    arguments.add("-lstdc++")  # check_image.py refuses whatever uses them, with a better message than ld's.
    arguments.add("-lm")
    arguments.add("-Wl,--end-group")
    arguments.add("-T", linker_script)
    arguments.add("-Wl,--defsym=__stack_size=%d" % ctx.attr.stack_bytes)

    # The cross reference shows which object files use a refused symbol.
    arguments.add("-Wl,--cref")
    arguments.add(map_file, format = "-Wl,-Map=%s")
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_link_executable,
        ),
        arguments = [arguments],
        inputs = depset(objects + archives + inputs, transitive = [toolchain.all_files]),
        outputs = [elf, map_file],
        mnemonic = "FirmwareLink",
        progress_message = "Linking firmware %s" % ctx.label,
        use_default_shell_env = True,
    )

def _spoken_name(ctx):
    # str(ctx.label) differs between versions of Bazel.
    return "//%s:%s for %s" % (ctx.label.package, ctx.label.name, ctx.attr.core)

def _check(ctx, linked, map_file, elf):
    """Copies `linked` to `elf` if the image contains nothing that is refused."""
    arguments = ctx.actions.args()
    arguments.add("--label", _spoken_name(ctx))
    arguments.add("--nm", ARM_GCC.tools["nm"])
    arguments.add("--readelf", ARM_GCC.tools["readelf"])
    arguments.add("--map", map_file)
    arguments.add("--elf", linked)
    arguments.add("--output", elf)
    if ctx.attr.unchecked:
        arguments.add("--unchecked")
    ctx.actions.run(
        executable = ctx.executable._check_image,
        arguments = [arguments],
        inputs = depset([linked, map_file], transitive = [find_cc_toolchain(ctx).all_files]),
        outputs = [elf],
        mnemonic = "FirmwareCheck",
        progress_message = "Checking firmware %s" % ctx.label,
        use_default_shell_env = True,
    )

def _objcopy(ctx, elf, output, format):
    ctx.actions.run(
        executable = ARM_GCC.tools["objcopy"],
        arguments = ["-O", format, elf.path, output.path],
        inputs = depset([elf], transitive = [find_cc_toolchain(ctx).all_files]),
        outputs = [output],
        mnemonic = "FirmwareObjcopy",
        use_default_shell_env = True,
    )

def _repository_of(header):
    return header.owner.workspace_name or None

def _size_report(ctx, elf, map_file, text, figures):
    # Only from a checked image, so that no part of a refused one appears.
    arguments = ctx.actions.args()
    arguments.add("--title", _spoken_name(ctx))
    arguments.add("--map", map_file)
    arguments.add("--text", text)
    arguments.add("--json", figures)
    arguments.add("--components", json.encode(components(ARM_GCC.version)))
    arguments.add("--own", ctx.attr._size_report.label.workspace_root)
    headers = [d[CcInfo].compilation_context.headers for d in ctx.attr.deps]
    arguments.add_all(
        depset(transitive = headers),
        before_each = "--headers-of",
        map_each = _repository_of,
        uniquify = True,
    )
    ctx.actions.run(
        executable = ctx.executable._size_report,
        arguments = [arguments],
        inputs = [elf, map_file],
        outputs = [text, figures],
        mnemonic = "FirmwareSize",
        use_default_shell_env = True,
    )

def _firmware_image_impl(ctx):
    name = ctx.label.name
    files = {suffix: ctx.actions.declare_file(name + "." + suffix) for suffix in _SUFFIXES}
    linked = ctx.actions.declare_file(name + ".linked")
    board = ctx.attr.board[BoardInfo]
    _check_board(ctx, board)
    _link(ctx, ctx.file.linker_script or board.linker_script, linked, files["map"])
    _check(ctx, linked, files["map"], files["elf"])
    _objcopy(ctx, files["elf"], files["bin"], "binary")
    _objcopy(ctx, files["elf"], files["hex"], "ihex")
    _size_report(ctx, files["elf"], files["map"], files["size"], files["size.json"])
    ctx.actions.symlink(output = files["board.json"], target_file = board.description)
    outputs = files.values()
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(outputs))]

_firmware_image = rule(
    implementation = _firmware_image_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
        "board": attr.label(
            default = "//platforms:board_of_core",
            providers = [BoardInfo],
            doc = "The board to link for, by default that of the core.",
        ),
        "core": attr.string(doc = "Core of the platform being built, as the reports name it."),
        "linker_script": attr.label(allow_single_file = True, doc = "Linker script to use instead of the board's."),
        "stack_bytes": attr.int(default = 16384, doc = "RAM for the stack, a multiple of 16."),
        "unchecked": attr.bool(doc = "Build an image even if the check would refuse it: for tests of the check."),
        "_check_image": attr.label(
            default = "//platforms/tools:check_image",
            executable = True,
            cfg = "exec",
        ),
        "_size_report": attr.label(
            default = "//platforms/tools:size_report",
            executable = True,
            cfg = "exec",
        ),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)

def firmware_image(name, **kwargs):
    """Links an image for the platform that is being built; `firmware` also chooses the platform.

    Args:
      name: name of the target.
      **kwargs: `deps`, `linker_script`, `stack_bytes`, ...: see _firmware_image.
    """
    _firmware_image(
        name = name,
        core = select_core({name: target.cpu for name, target in TARGETS.items()}, default = "the host"),
        target_compatible_with = ["@platforms//os:none"],
        **kwargs
    )

def _to_core_impl(_settings, attr):
    return {
        "//command_line_option:compilation_mode": attr.mode,
        "//command_line_option:platforms": str(Label("//platforms:" + attr.core)),
    }

to_core = transition(
    implementation = _to_core_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:platforms",
    ],
)

def _firmware_impl(ctx):
    image = ctx.attr.image[0]
    source_name = image.label.name
    groups = {}
    for source in image[DefaultInfo].files.to_list():
        suffix = source.basename[len(source_name) + 1:]
        output = ctx.actions.declare_file(ctx.label.name + "." + suffix)
        ctx.actions.symlink(output = output, target_file = source)
        groups[suffix] = output
    outputs = groups.values()
    return [
        DefaultInfo(
            executable = groups["elf"],
            files = depset(outputs),
            runfiles = ctx.runfiles(outputs),
        ),
        OutputGroupInfo(**{
            suffix.replace(".", "_"): depset([output])
            for suffix, output in groups.items()
        }),
    ]

def firmware_rule(to_core, attrs = {}):
    """Returns a rule that builds an image for a core, for .bzl files whose firmware needs settings besides the core.

    Args:
      to_core: a transition that sets the same settings as this file's, from the attributes core and mode.
      attrs: further attributes.
    """
    all_attrs = {
        "core": attr.string(mandatory = True, values = TARGETS.keys()),
        "image": attr.label(cfg = to_core, mandatory = True, doc = "A firmware_image."),
        "mode": attr.string(default = "opt", values = ["dbg", "fastbuild", "opt"]),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    }
    all_attrs.update(attrs)
    return rule(
        implementation = _firmware_impl,
        attrs = all_attrs,
        executable = True,
    )

# Builds an image for a core, with its board of cores.bzl.
core_firmware = firmware_rule(to_core)

def firmware_targets(rule, image, cores = None, targets = "{core}", by_default = None, tags = [], **kwargs):
    """Declares the targets that build one image for each of `cores`.

    Args:
      rule: the rule that chooses the core, from firmware_rule().
      image: the image.
      cores: names of TARGETS in cores.bzl; default: all.
      targets: pattern of the targets' names, in which {core} stands for the core.
      by_default: the cores that `bazel build //...` builds; default: those of `cores` if they are given, else
        FULLY_TESTED. The others are built only if they are asked for, or a target needs them.
      tags: tags of all targets.
      **kwargs: mode ("opt", "dbg" or "fastbuild"), testonly, visibility.
    """
    if by_default == None:
        by_default = FULLY_TESTED if cores == None else cores
    for core in TARGETS if cores == None else cores:
        rule(
            name = targets.replace("{core}", core),
            core = core,
            image = image,
            tags = tags if core in by_default else tags + ["manual"],
            **kwargs
        )

def _board_name(label):
    return label.rpartition(":")[2].rpartition("/")[2]

def firmware(
        name,
        boards = {},
        cores = None,
        targets = "{core}",
        by_default = None,
        mode = "opt",
        tags = [],
        testonly = None,
        visibility = None,
        **kwargs):
    """Declares an image, and targets that build it: one for each of `cores`, and one for each of `boards`.

    Args:
      name: name of the image, which is linked for the platform that is being built.
      boards: labels of board()s -> the core in cores.bzl to build for. The targets are named <name>_<board>. They differ
        from the core's image only in what is linked, not in how it is compiled: a board costs a link.
      cores: see firmware_targets.
      targets: see firmware_targets.
      by_default: see firmware_targets.
      mode: the compilation mode, "opt", "dbg" or "fastbuild".
      tags: tags of all targets.
      testonly: testonly of all targets.
      visibility: visibility of all targets.
      **kwargs: `deps`, `linker_script`, `stack_bytes`, ...: see _firmware_image.
    """
    firmware_image(
        name = name,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
        **kwargs
    )
    for board, core in boards.items():
        linked = "%s_on_%s" % (name, _board_name(board))
        firmware_image(
            name = linked,
            board = board,
            tags = tags,
            testonly = testonly,
            visibility = visibility,
            **kwargs
        )
        core_firmware(
            name = "%s_%s" % (name, _board_name(board)),
            core = core,
            image = ":" + linked,
            mode = mode,
            tags = tags,
            testonly = testonly,
            visibility = visibility,
        )
    firmware_targets(
        rule = core_firmware,
        by_default = by_default,
        cores = cores,
        image = ":" + name,
        mode = mode,
        tags = tags,
        targets = targets,
        testonly = testonly,
        visibility = visibility,
    )
