"""`clang_fuzzer`: a libFuzzer program with sanitizers, compiled by the clang of third_party/clang.

Put all code to be instrumented into `srcs`; only headers and defines of libraries in `deps` are used.
"""

load("@clang//:info.bzl", "CLANG")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")

# Whether fuzzers can be built, and if not, why.
FUZZERS = struct(available = CLANG.available, reason = CLANG.reason)

_FLAGS = ["-O2", "-gline-tables-only", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]

def _compile(ctx, source, context, sanitize):
    is_c = source.extension == "c"
    output = ctx.actions.declare_file("%s.objects/%s.o" % (ctx.label.name, source.short_path.replace("../", "").replace("/", "_")))
    arguments = ctx.actions.args()
    arguments.add_all(_FLAGS)
    arguments.add("-std=c11" if is_c else "-std=c++17")
    arguments.add("-w" if is_c else "-Wall")
    arguments.add_all(sanitize)
    arguments.add_all(context.defines, format_each = "-D%s")
    arguments.add_all(ctx.attr.local_defines, format_each = "-D%s")
    arguments.add_all(ctx.attr.copts)
    arguments.add_all(context.quote_includes, before_each = "-iquote")
    arguments.add_all(context.includes, before_each = "-isystem")
    arguments.add_all(context.system_includes, before_each = "-isystem")
    arguments.add("-c", source)
    arguments.add("-o", output)
    headers = [f for f in ctx.files.srcs if f.extension == "h"]
    ctx.actions.run(
        executable = CLANG.c if is_c else CLANG.cc,
        arguments = [arguments],
        inputs = depset([source] + headers, transitive = [context.headers]),
        outputs = [output],
        mnemonic = "ClangCompile",
        progress_message = "Compiling %s for %s" % (source.short_path, ctx.label),
        use_default_shell_env = True,
    )
    return output

def _impl(ctx):
    if not CLANG.available:
        fail("there is no clang for fuzzers: " + CLANG.reason)
    context = cc_common.merge_cc_infos(cc_infos = [d[CcInfo] for d in ctx.attr.deps]).compilation_context
    sanitize = ["-fsanitize=address,undefined"]
    sanitize += ["-fno-sanitize=" + check for check in ctx.attr.without]
    objects = [
        # Without hooks in comparisons, which would take half of the time: the mutator knows what the fields mean.
        _compile(ctx, source, context, sanitize + ["-fsanitize=fuzzer-no-link", "-fno-sanitize-coverage=trace-cmp"])
        for source in ctx.files.srcs
        if source.extension != "h"
    ]
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run(
        executable = CLANG.cc,
        arguments = sanitize + ["-fsanitize=fuzzer", "-o", output.path] + [o.path for o in objects],
        inputs = objects,
        outputs = [output],
        mnemonic = "ClangLink",
        progress_message = "Linking fuzzer %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [DefaultInfo(executable = output, files = depset([output]), runfiles = ctx.runfiles([output]))]

clang_fuzzer = rule(
    implementation = _impl,
    attrs = {
        "copts": attr.string_list(doc = "Further flags of all compilations, C and C++."),
        "deps": attr.label_list(providers = [CcInfo]),
        "local_defines": attr.string_list(),
        "srcs": attr.label_list(allow_files = [".c", ".cc", ".h"], mandatory = True),
        "without": attr.string_list(doc = "Checks of -fsanitize=undefined to leave out."),
    },
    executable = True,
)
