"""Finds llvm-mca and llvm-objdump of one version: $LLVM_TOOLS, else Debian's package, installed or unpacked here.

    LLVM_TOOLS   the absolute path of the folder with both programs

Writes @llvm//:info.bzl with LLVM, a struct:
    folder  of the programs, or "" if there are none
    reason  if there are none: one line that says why

Missing programs do not fail here: only what models cycles needs them, and says so.
"""

_VERSION = "19"
_PACKAGES = ["llvm-" + _VERSION, "libllvm" + _VERSION]
_PROGRAMS = ["llvm-mca", "llvm-objdump"]

def _problem(rctx, folder):
    """Returns why the programs of a folder cannot be used, an empty string if they can."""
    for program in _PROGRAMS:
        path = "%s/%s" % (folder, program)
        if not rctx.path(path).exists:
            return "there is no %s" % path
        result = rctx.execute([path, "--version"])
        if result.return_code:
            return "%s does not run: %s" % (path, (result.stderr.strip().split("\n") or [""])[-1])
    return ""

def _unpacked(rctx):
    """Fetches and unpacks the packages without installing them; returns the folder of the programs, and a reason."""
    apt, dpkg = rctx.which("apt-get"), rctx.which("dpkg-deb")
    if not apt or not dpkg:
        return "", "this system has no apt-get to fetch %s with" % _PACKAGES[0]
    rctx.report_progress("fetching " + _PACKAGES[0])
    result = rctx.execute([apt, "download"] + _PACKAGES, timeout = 300)
    if result.return_code:
        return "", "apt-get download %s failed: %s" % (
            " ".join(_PACKAGES),
            (result.stderr.strip().split("\n") or [""])[-1],
        )
    for archive in rctx.path(".").readdir():
        if archive.basename.endswith(".deb"):
            rctx.execute([dpkg, "-x", archive, "root"], timeout = 600)
            rctx.delete(archive)
    bin = str(rctx.path("root/usr/lib/llvm-%s/bin" % _VERSION))
    libraries = [f for f in rctx.path("root/usr/lib").readdir() if not f.basename.startswith("llvm")]
    for program in _PROGRAMS:
        # The library is where only the loader of an installed package would look for it.
        rctx.file(
            "bin/" + program,
            "#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/%s \"$@\"\n" % (":".join([str(f) for f in libraries]), bin, program),
        )
    folder = str(rctx.path("bin"))
    problem = _problem(rctx, folder)
    return ("", problem) if problem else (folder, "")

def _find(rctx):
    named = rctx.os.environ.get("LLVM_TOOLS", "").strip()
    if named and not named.startswith("/"):
        return "", "LLVM_TOOLS=%s: give an absolute path" % named
    if named:
        problem = _problem(rctx, named)
        return ("", "LLVM_TOOLS: " + problem) if problem else (named, "")
    installed = "/usr/lib/llvm-%s/bin" % _VERSION
    return _unpacked(rctx) if _problem(rctx, installed) else (installed, "")

def _impl(rctx):
    folder, reason = _find(rctx)
    rctx.file("info.bzl", "LLVM = struct(folder = %r, reason = %r)\n" % (folder, reason))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

llvm = repository_rule(
    implementation = _impl,
    environ = ["LLVM_TOOLS"],
)
