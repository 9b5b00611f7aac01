"""External repositories, for WORKSPACE and (through extensions.bzl) for MODULE.bazel."""

load("//third_party:external_source.bzl", "external_source_rule")
load("//third_party:given_sources.bzl", "given_sources")
load("//third_party:source_servers.bzl", "source_servers")
load("//third_party/arm_gcc:arm_gcc.bzl", "arm_gcc")
load("//third_party/buildifier:buildifier.bzl", "buildifier")
load("//third_party/clang:clang.bzl", "clang")
load("//third_party/cmsis_schemas:cmsis_schemas.bzl", "cmsis_schemas")
load("//third_party/executorch:executorch_wheel.bzl", "executorch_wheel")
load("//third_party/llvm:llvm.bzl", "llvm")
load("//third_party/python:python_docs.bzl", "python_docs")
load("//third_party/python:python_env.bzl", "python_env")
load("//third_party/qemu:qemu.bzl", "qemu")
load("//third_party/renode:renode.bzl", "renode")

def _bundled_repository_impl(rctx):
    root = rctx.path(Label("//:WORKSPACE")).dirname
    for child in rctx.path("%s/%s" % (root, rctx.attr.folder)).readdir():
        rctx.symlink(child, child.basename)

# native.local_repository takes its path relative to the main workspace, which may be a firmware's.
_bundled_repository = repository_rule(
    implementation = _bundled_repository_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    local = True,
)

_cmsis_nn_source = external_source_rule("cmsis_nn")
_executorch_source = external_source_rule("executorch")
_flatbuffers_source = external_source_rule("flatbuffers")
_googletest_source = external_source_rule("googletest")

_ANSWERS = Label("@source_servers//:answers.json")

_REQUIREMENTS = Label("//third_party/python:requirements.lock")

def source_repositories():
    """The repositories that both modes create themselves."""
    arm_gcc(name = "arm_gcc")
    buildifier(name = "buildifier")
    clang(name = "clang")
    llvm(name = "llvm")
    qemu(name = "qemu")
    renode(name = "renode")
    python_env(
        name = "python_env",
        requirements = _REQUIREMENTS,
    )
    python_docs(
        name = "python_docs",
        requirements = Label("//third_party/python:docs.lock"),
    )
    executorch_wheel(
        name = "executorch_wheel",
        requirements = _REQUIREMENTS,
    )
    given_sources(name = "given_sources")
    source_servers(
        name = "source_servers",
        pins = [
            "cmsis_nn",
            "executorch",
            "flatbuffers",
        ],
    )
    cmsis_schemas(
        name = "cmsis_schemas",
        servers = _ANSWERS,
    )
    _cmsis_nn_source(
        name = "cmsis_nn",
        build_file = Label("//third_party/cmsis_nn:cmsis_nn.BUILD"),
        exact = True,  # Its revision is part of the payload format.
        expect = "Include/arm_nnfunctions.h",
        servers = _ANSWERS,
        unless_had = "Images get the portable kernels, because CMSIS-NN is unavailable",
    )
    _executorch_source(
        name = "executorch",
        build_file = Label("//third_party/executorch:executorch.BUILD"),
        expect = "runtime/executor/program.cpp",
        into = "executorch",  # As in its #includes.
        servers = _ANSWERS,
        unless_had = "No image can load a .pte, because ExecuTorch's sources are unavailable",
    )
    _flatbuffers_source(
        name = "flatbuffers",
        build_file = Label("//third_party/flatbuffers:flatbuffers.BUILD"),
        expect = "include/flatbuffers/flatbuffers.h",
        servers = _ANSWERS,
        unless_had = "No image can load a .pte, because FlatBuffers' headers are unavailable",
    )

def cmsis_nn_delegate_repositories():
    """All repositories in WORKSPACE mode (Bazel 4.2 to 6), including the rule sets."""
    for name in ["rules_cc", "rules_java", "rules_python", "rules_shell", "remote_coverage_tools"]:
        _bundled_repository(
            name = name,
            folder = "third_party/bazel4/" + name,
        )
    _googletest_source(
        name = "googletest",
        build_file = Label("//third_party/googletest:googletest.BUILD"),
        system_paths = ["/usr/src/googletest"],  # Debian's package googletest.
    )
    source_repositories()

def cmsis_nn_delegate_toolchains():
    """Registers in WORKSPACE mode the toolchains that MODULE.bazel registers for this repository itself.

    A workspace that depends on this one need not call this function. It can register the first toolchain
    (arm-none-eabi-gcc) or its own C++ toolchain with the constraints of //platforms:cortex_m55 and so on, and the
    second one or a Python that has the packages of requirements.lock.
    """
    native.register_toolchains(
        "@cmsis_nn_delegate//platforms/toolchain:all",
        "@cmsis_nn_delegate//third_party/python/toolchain:all",
    )
