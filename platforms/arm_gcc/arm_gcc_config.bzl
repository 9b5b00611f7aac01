"""`arm_gcc_config`: how to call arm-none-eabi-gcc for one core."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path", "with_feature_set")
load("@rules_cc//cc:defs.bzl", "CcToolchainConfigInfo", "cc_common")
load("//platforms/arm_gcc:flags.bzl", "FLAGS")

_ASM = [ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble]
_C = [ACTION_NAMES.c_compile]
_CXX = [ACTION_NAMES.cpp_compile]
_LINK = [ACTION_NAMES.cpp_link_executable]

def _flags(actions, flags, with_features = []):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)],
        with_features = with_features,
    )

def _flag_sets(ctx):
    return [
        _flags(_ASM + _C + _CXX + _LINK, ctx.attr.core_flags),
        _flags(_ASM + _C + _CXX, FLAGS.common + FLAGS.reproducible),
        _flags(_C, FLAGS.c),
        _flags(_CXX, FLAGS.cxx_standard + FLAGS.cxx),
        # A target that is worth more flash can override this in its copts, which come later.
        _flags(_C + _CXX, ["-Os", "-DNDEBUG"], [with_feature_set(features = ["opt"])]),
        _flags(_C + _CXX, ["-Os"], [with_feature_set(features = ["fastbuild"])]),
        _flags(_C + _CXX, ["-Og"], [with_feature_set(features = ["dbg"])]),
        _flags(_LINK, FLAGS.link),
    ]

def _tool_path(tool, path):
    """Returns `path` as tool_path() wants it: absolute, or in the package of the toolchain."""
    return path if path.startswith("/") else "from_inputs/" + tool

def _impl(ctx):
    tools = {tool: _tool_path(tool, path) for tool, path in ctx.attr.tools.items()}
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = ctx.label.name,
        compiler = "gcc-" + ctx.attr.compiler_version,
        target_cpu = "arm",
        target_libc = "newlib",
        target_system_name = "arm-none-eabi",
        host_system_name = "local",
        abi_version = "eabi",
        abi_libc_version = "newlib",
        cxx_builtin_include_directories = ctx.attr.include_dirs,
        features = [
            feature(name = "opt"),
            feature(name = "fastbuild"),
            feature(name = "dbg"),
            feature(name = "supports_pic", enabled = False),
            feature(name = "default_flags", enabled = True, flag_sets = _flag_sets(ctx)),
        ],
        tool_paths = [
            tool_path(name = "ar", path = tools["ar"]),
            tool_path(name = "compat-ld", path = tools["ld"]),
            tool_path(name = "cpp", path = tools["gcc"]),
            tool_path(name = "dwp", path = "/bin/false"),
            tool_path(name = "gcc", path = tools["gcc"]),
            tool_path(name = "gcov", path = tools["gcov"]),
            tool_path(name = "ld", path = tools["ld"]),
            tool_path(name = "nm", path = tools["nm"]),
            tool_path(name = "objcopy", path = tools["objcopy"]),
            tool_path(name = "objdump", path = tools["objdump"]),
            tool_path(name = "strip", path = tools["strip"]),
        ],
    )

arm_gcc_config = rule(
    implementation = _impl,
    attrs = {
        "compiler_version": attr.string(mandatory = True),
        "core_flags": attr.string_list(mandatory = True),
        "include_dirs": attr.string_list(),
        "tools": attr.string_dict(mandatory = True),
    },
    provides = [CcToolchainConfigInfo],
)
