"""`qemu_config`: tells the driver which QEMU Bazel found."""

load("@qemu//:info.bzl", "QEMU_SYSTEM_ARM", "QEMU_VERSION")

def _impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode({
        "qemu_system_arm": QEMU_SYSTEM_ARM,
        "version": QEMU_VERSION,
    }) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

qemu_config = rule(implementation = _impl)
