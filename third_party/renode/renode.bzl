"""Finds Renode: $RENODE, then $PATH; downloads it only if $RENODE_DOWNLOAD is set.

    RENODE            the command that starts it; may have several words
    RENODE_DOWNLOAD   "1": the archive in pin.bzl; or the URL of another one (.tar.gz, "portable")

Writes @renode//:info.bzl with RENODE, a struct:
  command   the command that starts it, with an absolute path, or ""
  origin    where it is from
  reason    one line that says why there is none

A missing simulator does not fail here: tests that need it say why.
"""

load("//third_party/renode:pin.bzl", "ARCHIVE")

_MISSING = "set RENODE to the command that starts it, put it on PATH, or let RENODE_DOWNLOAD=1 fetch it"

def _from_variable(rctx, command):
    words = command.split(" ")
    if words[0].startswith("/"):
        path = rctx.path(words[0])
    elif "/" in words[0]:  # which() would fail the build, and it is unknown what the path is relative to.
        return struct(command = "", origin = "", reason = "RENODE=%s: give %s with an absolute path" % (command, words[0]))
    else:
        path = rctx.which(words[0])
    if not path or not path.exists:
        return struct(command = "", origin = "", reason = "RENODE=%s: there is no program %s" % (command, words[0]))
    return struct(command = " ".join([str(path)] + words[1:]), origin = "RENODE", reason = "")

def _from_download(rctx, request):
    pinned = request == "1"
    url = ARCHIVE.url if pinned else request
    rctx.report_progress("downloading Renode")
    result = rctx.download_and_extract(
        url,
        output = "download",
        sha256 = ARCHIVE.sha256 if pinned else "",
        allow_fail = True,
    )
    if not result.success:
        return struct(command = "", origin = "", reason = "RENODE_DOWNLOAD: %s could not be downloaded" % url)
    for folder in rctx.path("download").readdir():
        if folder.get_child("renode").exists:
            return struct(
                command = str(folder.get_child("renode")),
                origin = "%s, sha256 %s" % (url, result.sha256),
                reason = "",
            )
    return struct(command = "", origin = "", reason = "RENODE_DOWNLOAD: %s has no folder with a program renode" % url)

def _impl(rctx):
    command = rctx.os.environ.get("RENODE", "").strip()
    request = rctx.os.environ.get("RENODE_DOWNLOAD")
    on_path = rctx.which("renode")
    if command:
        found = _from_variable(rctx, command)
    elif on_path:
        found = struct(command = str(on_path), origin = "PATH", reason = "")
    elif request and request != "0":
        found = _from_download(rctx, request)
    else:
        found = struct(command = "", origin = "", reason = _MISSING)
    rctx.file("info.bzl", "RENODE = struct(\n    command = %r,\n    origin = %r,\n    reason = %r,\n)\n" %
                          (found.command, found.origin, found.reason))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

renode = repository_rule(
    implementation = _impl,
    environ = ["PATH", "RENODE", "RENODE_DOWNLOAD"],
    configure = True,
    local = True,
)
