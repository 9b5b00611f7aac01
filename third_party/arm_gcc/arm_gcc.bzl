"""Finds arm-none-eabi-gcc: $ARM_GNU_TOOLCHAIN/bin, then $PATH.

Writes @arm_gcc//:info.bzl with ARM_GCC, a struct:
  found         whether a complete toolchain was found
  version       as printed by the compiler, "none" if not found
  tools         path by tool name
  include_dirs  the built-in search path of the compiler
  cpus          the cores with other_flags in platforms/cores.bzl that -mcpu accepts

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
    if found:
        gcc = tools["gcc"]
        cpus = [core.cpu for core in CORES.values() if core.other_flags and _accepts(rctx, gcc, core.cpu)]
        include_dirs = _include_dirs(rctx, gcc)
        version = rctx.execute([gcc, "-dumpfullversion"]).stdout.strip()
    else:
        rctx.file("missing.sh", _MISSING, executable = True)
        tools = {tool: str(rctx.path("missing.sh")) for tool in _TOOLS}
    rctx.file("info.bzl", """ARM_GCC = struct(
    cpus = %r,
    found = %s,
    include_dirs = %r,
    tools = %r,
    version = %r,
)
""" % (cpus, found, include_dirs, tools, version))
    rctx.file("BUILD.bazel", "exports_files([\"info.bzl\"])\n")
    rctx.file("WORKSPACE", "")

arm_gcc = repository_rule(
    implementation = _impl,
    environ = ["ARM_GNU_TOOLCHAIN", "PATH"],
    configure = True,
    local = True,
)
