"""Finds arm-none-eabi-gcc: $ARM_GNU_TOOLCHAIN/bin, then $PATH.

If $ARM_GNU_TOOLCHAIN_AS_INPUTS is 1, the files of $ARM_GNU_TOOLCHAIN are inputs of the actions that use them, so that
machines on which it is not installed can run these.

Writes @arm_gcc//:info.bzl with ARM_GCC, a struct:
  found         whether a complete toolchain was found
  version       as printed by the compiler, "none" if not found
  tools         path by tool name, absolute, or relative to the folder in which actions run
  include_dirs  the built-in search path of the compiler, absolute or relative like the tools
  cpus          the cores with other_flags in platforms/cores.bzl that -mcpu accepts

and the filegroup `files`, inputs of every action that runs one of the tools: the toolchain, if it is an input, and
identity.txt. A cache that machines share must not give one the outputs of another one's compiler, so it has the hashes
of the programs, and of the libraries and headers that show newlib's version.

Toolchain resolution loads this file in every build for a core, and rules load it in every build. A missing
compiler must therefore not fail here, but in the action that needs it.
"""

load("//platforms:cores.bzl", "CORES")

_TOOLS = ["ar", "gcc", "g++", "gcov", "ld", "nm", "objcopy", "objdump", "readelf", "strip"]

_MISSING = """#!/bin/sh
echo "arm-none-eabi-gcc with newlib was not found: use ./bazelw, install it (Debian: gcc-arm-none-eabi" \\
     "libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib) or set ARM_GNU_TOOLCHAIN." >&2
exit 1
"""

# What the compiler runs and links by itself.
_PROGRAMS = ["as", "cc1", "cc1plus", "collect2", "ld"]
_LIBRARIES = ["libc_nano.a", "libgcc.a", "libm.a", "libstdc++_nano.a", "nano.specs"]
_HEADERS = ["bits/c++config.h", "newlib.h"]

_HASH = """
for file; do
  if command -v sha256sum >/dev/null; then sha256sum <"$file"; else shasum -a 256 <"$file"; fi
done
"""

def _identity(rctx, tools, include_dirs):
    """Returns text that differs for compilers that may give different outputs, wherever they are installed."""
    gcc = tools["gcc"]
    files = [(name, tools[name]) for name in _TOOLS]
    for option, names in [("prog", _PROGRAMS), ("file", _LIBRARIES)]:
        for name in names:
            found = rctx.execute([gcc, "-print-%s-name=%s" % (option, name)]).stdout.strip()
            files.append((name, found if "/" in found else ""))
    for name in _HEADERS:
        found = [folder + "/" + name for folder in include_dirs if rctx.path(folder + "/" + name).exists]
        files.append((name, found[0] if found else ""))
    files = [(name, path) for name, path in files if path and rctx.path(path).exists]
    result = rctx.execute(["sh", "-c", _HASH, "sh"] + [path for _, path in files])
    if result.return_code:
        fail("the compiler's programs cannot be read:\n%s" % result.stderr)
    return "".join(["%s %s\n" % (name, line) for (name, _), line in zip(files, result.stdout.splitlines())])

def _include_dirs(rctx, gcc):
    # The compiler prints its search path between these two lines.
    result = rctx.execute([gcc, "-E", "-xc++", "-v", "/dev/null"])
    dirs = []
    inside = False
    for line in result.stderr.splitlines():
        if line.startswith("#include <...>"):
            inside = True
        elif line.startswith("End of search list"):
            break
        elif inside:
            dirs.append(str(rctx.path(line.strip())))
    return dirs

# Of the archives that Arm publishes: no debugger, manuals or plugins.
_INPUTS = ["toolchain/%s/**" % folder for folder in ["arm-none-eabi", "bin", "include", "lib", "libexec"]]
_NO_INPUTS = ["**/*-gdb*", "**/plugin/**", "**/install-tools/**", "**/* *"]  # the last: names that Bazel refuses

_BUILD = """exports_files([
    "identity.txt",
    "info.bzl",
])

filegroup(
    name = "files",
    srcs = ["identity.txt"]%s,
    visibility = ["//visibility:public"],
)
"""

def _as_inputs(rctx):
    """Returns the folder of the toolchain if its files are to be inputs, else None."""
    if rctx.os.environ.get("ARM_GNU_TOOLCHAIN_AS_INPUTS", "0") != "1":
        return None
    folder = rctx.os.environ.get("ARM_GNU_TOOLCHAIN")
    if not folder:
        fail("ARM_GNU_TOOLCHAIN_AS_INPUTS=1 needs ARM_GNU_TOOLCHAIN, the folder of an unpacked toolchain")
    return str(rctx.path(folder).realpath)

def _accepts(rctx, gcc, cpu):
    args = [gcc, "-mcpu=" + cpu, "-mthumb", "-E", "-xc", "/dev/null", "-o", "/dev/null"]
    return rctx.execute(args).return_code == 0

def _find_tools(rctx):
    prefix = rctx.os.environ.get("ARM_GNU_TOOLCHAIN")
    tools = {}
    for tool in _TOOLS:
        if prefix:
            path = rctx.path(prefix + "/bin/arm-none-eabi-" + tool)
            if not path.exists:
                fail("ARM_GNU_TOOLCHAIN=%s has no bin/arm-none-eabi-%s" % (prefix, tool))
        else:
            path = rctx.which("arm-none-eabi-" + tool)
        if path:
            # Resolve links to the folder, such as /bin: the path by which the compiler is called changes the names of some
            # of its headers. Keep a link to the file itself, which may be ccache's.
            tools[tool] = "%s/%s" % (path.dirname.realpath, path.basename)
    return tools

def _impl(rctx):
    tools = _find_tools(rctx)
    found = len(tools) == len(_TOOLS)
    cpus = []
    include_dirs = []
    version = "none"
    identity = "none\n"
    if found:
        gcc = tools["gcc"]
        cpus = [core.cpu for core in CORES.values() if core.other_flags and _accepts(rctx, gcc, core.cpu)]
        include_dirs = _include_dirs(rctx, gcc)
        version = rctx.execute([gcc, "-dumpfullversion"]).stdout.strip()
        identity = _identity(rctx, tools, include_dirs)
    else:
        rctx.file("missing.sh", _MISSING, executable = True)
        tools = {tool: str(rctx.path("missing.sh")) for tool in _TOOLS}
    folder = _as_inputs(rctx)
    if folder:
        rctx.symlink(folder, "toolchain")
        here = "external/%s/toolchain" % rctx.name
        tools = {tool: path.replace(folder, here, 1) for tool, path in tools.items()}
        include_dirs = [path.replace(folder, here, 1) for path in include_dirs]
    rctx.file("info.bzl", """ARM_GCC = struct(
    cpus = %r,
    found = %s,
    include_dirs = %r,
    tools = %r,
    version = %r,
)
""" % (cpus, found, include_dirs, tools, version))
    rctx.file("identity.txt", identity)
    rctx.file("BUILD.bazel", _BUILD % (" + glob(%r, exclude = %r)" % (_INPUTS, _NO_INPUTS) if folder else ""))
    rctx.file("WORKSPACE", "")

arm_gcc = repository_rule(
    implementation = _impl,
    environ = ["ARM_GNU_TOOLCHAIN", "ARM_GNU_TOOLCHAIN_AS_INPUTS", "PATH"],
    configure = True,
    local = True,
)
