"""Finds buildifier, which //:lint runs: $BUILDIFIER, a program of the pinned version on $PATH, or npm's package.

Writes @buildifier//:info.bzl with BUILDIFIER, a struct:
    path     the program, or "" if there is none, which is not an error
    version  the pinned version
"""

_VERSION = "8.2.1"
_PACKAGE = "@bazel/buildifier@" + _VERSION  # contains the programs for all systems
_SHA256 = "b96ea9b13003036c801f52bee6f9b0314738f8432e5cb9d814c89f59292604ee"

def _on_path(rctx):
    path = rctx.which("buildifier")
    if path and ("version: " + _VERSION) in rctx.execute([path, "--version"]).stdout:
        return str(path)
    return ""

def _from_npm(rctx):
    """Fetches the package; returns the path of the program, or an empty string."""
    npm = rctx.which("npm")
    system = rctx.execute(["uname", "-sm"]).stdout.strip().lower().replace(" ", "_")
    program = system.replace("x86_64", "amd64").replace("aarch64", "arm64")
    if not npm:
        return ""
    rctx.report_progress("fetching " + _PACKAGE)
    result = rctx.execute([npm, "pack", "--silent", _PACKAGE], timeout = 300)
    archive = result.stdout.strip()
    if result.return_code or not archive:
        return ""
    url = "file://%s" % rctx.path(archive)
    rctx.download_and_extract(url, sha256 = _SHA256, stripPrefix = "package")
    path = rctx.path("buildifier-" + program)
    return str(path) if path.exists else ""

def _impl(rctx):
    path = rctx.os.environ.get("BUILDIFIER") or _on_path(rctx) or _from_npm(rctx)
    rctx.file("info.bzl", "BUILDIFIER = struct(path = %r, version = %r)\n" % (path, _VERSION))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

buildifier = repository_rule(
    implementation = _impl,
    environ = ["BUILDIFIER", "PATH"],
)
