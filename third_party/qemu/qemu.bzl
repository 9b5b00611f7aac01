"""Finds qemu-system-arm ($QEMU_SYSTEM_ARM, then $PATH).

Writes @qemu//:info.bzl with QEMU_SYSTEM_ARM, the path or "". A missing simulator does not fail
here: only the run that needs it does, with the driver's message.
"""

def _impl(rctx):
    path = rctx.os.environ.get("QEMU_SYSTEM_ARM") or rctx.which("qemu-system-arm")
    rctx.file("info.bzl", "QEMU_SYSTEM_ARM = %r\n" % (str(path) if path else ""))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

qemu = repository_rule(
    implementation = _impl,
    environ = ["PATH", "QEMU_SYSTEM_ARM"],
    configure = True,
    local = True,
)
