"""Finds qemu-system-arm ($QEMU_SYSTEM_ARM, then $PATH).

Writes @qemu//:info.bzl with QEMU_SYSTEM_ARM, the path or "", and QEMU_VERSION, what it prints about itself, so that
tests run again with another version. A missing simulator does not fail here: only the run that needs it does, with the
driver's message.
"""

def _impl(rctx):
    path = rctx.os.environ.get("QEMU_SYSTEM_ARM") or rctx.which("qemu-system-arm")
    version = rctx.execute([path, "--version"]).stdout.splitlines() if path else []
    rctx.file("info.bzl", "QEMU_SYSTEM_ARM = %r\nQEMU_VERSION = %r\n" % (
        str(path) if path else "",
        version[0] if version else "",
    ))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

qemu = repository_rule(
    implementation = _impl,
    environ = ["PATH", "QEMU_SYSTEM_ARM"],
    configure = True,
    local = True,
)
