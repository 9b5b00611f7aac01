"""Code with sanitizers: `instrumented_library`, which several tests and a fuzzer link, so that it is compiled once.

The clang of third_party/clang compiles it, with the coverage that libFuzzer needs. Where there is none, the host's
compiler does, and there are no fuzzers: `FUZZERS` says why.

    instrumented_library(name, srcs, ...)           the code under test, its kernels, and what runs it; may take in
                                                    another one, with `libraries`
    instrumented_test(name, srcs, library, ...)     a test with GoogleTest
    clang_fuzzer(name, srcs, library)               a program of libFuzzer, only if FUZZERS.available

All code to be instrumented is in `srcs`: of libraries in `deps`, only headers, defines and the objects of GoogleTest
are used.
"""

load("@clang//:info.bzl", "CLANG")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common", "cc_library", "cc_test")

# Whether fuzzers can be built, and if not, why.
FUZZERS = struct(available = CLANG.available, reason = CLANG.reason)

_GOOGLETEST = "@googletest//:gtest_main"

_SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

def _without(checks):
    return ["-fno-sanitize=" + check for check in checks]

# With the host's compiler ----------------------------------------------------

def _host_library(name, srcs, deps, copts, local_defines, without, libraries, **kwargs):
    cc_library(
        name = name,
        srcs = srcs,
        alwayslink = True,  # all objects, as with clang: also those with tests
        copts = _SANITIZE + ["-O1", "-w"] + _without(without) + copts,
        linkopts = ["-fsanitize=address,undefined"],
        linkstatic = True,
        local_defines = local_defines,
        textual_hdrs = srcs,  # programs that link it include its headers
        deps = deps + libraries,
        **kwargs
    )

# With clang ------------------------------------------------------------------

_Instrumented = provider(
    doc = "Objects with sanitizers, and what a program that links them is compiled with.",
    fields = {
        "context": "CcCompilationContext of the headers, those of this library included",
        "flags": "list of flags of compilations",
        "headers": "depset of headers of this library",
        "objects": "list of files",
        "sanitize": "list of flags of compilations and links",
    },
)

_FLAGS = ["-O2", "-gline-tables-only", "-fno-omit-frame-pointer"]

# Without hooks in comparisons, which would take half of the time: the mutator knows what the fields mean.
_COVERAGE = ["-fsanitize=fuzzer-no-link", "-fno-sanitize-coverage=trace-cmp"]

def _compile(ctx, source, instrumented, coverage):
    is_c = source.extension == "c"
    output = ctx.actions.declare_file("%s.objects/%s.o" % (ctx.label.name, source.short_path.replace("../", "").replace("/", "_")))
    arguments = ctx.actions.args()
    arguments.add_all(_FLAGS)
    arguments.add("-std=c11" if is_c else "-std=c++17")
    arguments.add("-w" if is_c else "-Wall")
    arguments.add_all(instrumented.sanitize)
    arguments.add_all(coverage)
    arguments.add_all(instrumented.context.defines, format_each = "-D%s")
    arguments.add_all(instrumented.flags)
    arguments.add_all(instrumented.context.quote_includes, before_each = "-iquote")
    arguments.add_all(instrumented.context.includes, before_each = "-isystem")
    arguments.add_all(instrumented.context.system_includes, before_each = "-isystem")
    arguments.add("-c", source)
    arguments.add("-o", output)
    ctx.actions.run(
        executable = CLANG.c if is_c else CLANG.cc,
        arguments = [arguments],
        inputs = depset([source], transitive = [instrumented.headers, instrumented.context.headers]),
        outputs = [output],
        mnemonic = "ClangCompile",
        progress_message = "Compiling %s for %s" % (source.short_path, ctx.label),
        use_default_shell_env = True,
    )
    return output

def _sources(ctx):
    return [source for source in ctx.files.srcs if source.extension != "h"]

def _headers(ctx):
    return [source for source in ctx.files.srcs if source.extension == "h"]

def _merged(targets):
    return cc_common.merge_cc_infos(cc_infos = [target[CcInfo] for target in targets])

def _clang_library_impl(ctx):
    libraries = [library[_Instrumented] for library in ctx.attr.libraries]
    instrumented = _Instrumented(
        context = _merged(ctx.attr.deps).compilation_context,
        flags = ["-D" + define for define in ctx.attr.local_defines] + ctx.attr.copts,
        headers = depset(_headers(ctx), transitive = [library.headers for library in libraries]),
        objects = [],
        sanitize = _SANITIZE + _without(ctx.attr.without),
    )
    objects = [_compile(ctx, source, instrumented, _COVERAGE) for source in _sources(ctx)]
    for library in libraries:
        # Several of them may have taken in the same one.
        objects += [file for file in library.objects if file not in objects]
    return [_Instrumented(
        context = instrumented.context,
        flags = instrumented.flags,
        headers = instrumented.headers,
        objects = objects,
        sanitize = instrumented.sanitize,
    )]

_clang_library = rule(
    implementation = _clang_library_impl,
    attrs = {
        "copts": attr.string_list(doc = "Further flags of all compilations, C and C++."),
        "deps": attr.label_list(providers = [CcInfo]),
        "libraries": attr.label_list(
            doc = "Others, of which it takes in the headers and objects.",
            providers = [_Instrumented],
        ),
        "local_defines": attr.string_list(),
        "srcs": attr.label_list(allow_files = [".c", ".cc", ".h"], mandatory = True),
        "without": attr.string_list(doc = "Checks of -fsanitize=undefined to leave out."),
    },
)

def _archives(info):
    """Returns the static libraries of `info`, in the order of a link."""
    libraries = []
    for linker_input in info.linking_context.linker_inputs.to_list():
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                libraries.append(archive)
    return libraries

def _link(ctx, coverage, sanitize, deps, linkopts):
    """Compiles the sources of a program and links them with its library."""
    library = ctx.attr.library[_Instrumented]
    info = _merged(deps)
    instrumented = _Instrumented(
        context = cc_common.merge_cc_infos(cc_infos = [CcInfo(compilation_context = library.context), info]).compilation_context,
        flags = library.flags,
        headers = depset(_headers(ctx), transitive = [library.headers]),
        objects = library.objects,
        sanitize = library.sanitize,
    )
    objects = [_compile(ctx, source, instrumented, coverage) for source in _sources(ctx)] + library.objects
    archives = _archives(info)
    output = ctx.actions.declare_file(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(library.sanitize)
    arguments.add_all(sanitize)
    arguments.add("-o", output)
    arguments.add_all(objects)
    arguments.add_all(archives)
    arguments.add_all(linkopts)
    ctx.actions.run(
        executable = CLANG.cc,
        arguments = [arguments],
        inputs = objects + archives,
        outputs = [output],
        mnemonic = "ClangLink",
        progress_message = "Linking %s with sanitizers" % ctx.label,
        use_default_shell_env = True,
    )
    return output

def _clang_fuzzer_impl(ctx):
    output = _link(ctx, _COVERAGE, ["-fsanitize=fuzzer"], [], [])
    return [DefaultInfo(executable = output, files = depset([output]), runfiles = ctx.runfiles([output]))]

_PROGRAM = {
    "library": attr.label(doc = "The instrumented_library.", mandatory = True, providers = [_Instrumented]),
    "srcs": attr.label_list(allow_files = [".cc", ".h"], mandatory = True),
}

clang_fuzzer = rule(
    implementation = _clang_fuzzer_impl,
    attrs = _PROGRAM,
    executable = True,
)

def _clang_test_impl(ctx):
    output = _link(ctx, [], [], ctx.attr.deps, ["-lpthread"])
    return [
        DefaultInfo(executable = output, runfiles = ctx.runfiles(ctx.files.data)),
        testing.TestEnvironment(ctx.attr.environment),
    ]

_clang_test = rule(
    implementation = _clang_test_impl,
    attrs = dict(
        _PROGRAM,
        data = attr.label_list(allow_files = True),
        deps = attr.label_list(providers = [CcInfo]),
        environment = attr.string_dict(doc = "Variables of the test."),
    ),
    test = True,
)

# With either -----------------------------------------------------------------

def instrumented_library(name, srcs, deps, copts = [], libraries = [], local_defines = [], without = [], **kwargs):
    """Compiles code with the address and undefined behaviour sanitizers; the first finding ends the program.

    Args:
      name: name of the target.
      srcs: C and C++ sources and headers.
      deps: libraries of which the headers are used.
      copts: further flags of all compilations, also of programs that link it.
      libraries: others that it takes in, compiled with their own flags.
      local_defines: as of cc_library, also for programs that link it.
      without: checks of -fsanitize=undefined to leave out.
      **kwargs: passed on.
    """
    library = _clang_library if FUZZERS.available else _host_library
    library(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = copts,
        libraries = libraries,
        local_defines = local_defines,
        without = without,
        deps = deps,
        **kwargs
    )

def instrumented_test(name, srcs, library, variant, deps = [], env = {}, **kwargs):
    """A test with GoogleTest of an instrumented_library.

    Args:
      name: name of the target.
      srcs: C++ sources with tests, and headers. None if the library has the tests.
      library: the instrumented_library.
      variant: struct with `copts`, `defines` and `without`, those of the library.
      deps: libraries of which the headers are used.
      env: variables of the test.
      **kwargs: passed on (data, size, target_compatible_with, ...).
    """
    if FUZZERS.available:
        _clang_test(
            name = name,
            srcs = srcs,
            environment = env,
            library = library,
            deps = deps + [_GOOGLETEST],
            **kwargs
        )
    else:
        cc_test(
            name = name,
            srcs = srcs,
            copts = _SANITIZE + ["-O1", "-w"] + _without(variant.without) + variant.copts,
            env = env,
            linkopts = ["-fsanitize=address,undefined"],
            local_defines = variant.defines,
            deps = deps + [library, _GOOGLETEST],
            **kwargs
        )
