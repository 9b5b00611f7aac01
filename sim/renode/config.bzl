"""`renode_config`: tells the driver which Renode Bazel found, or why it found none."""

load("@renode//:info.bzl", "RENODE")

def _impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode({
        "origin": RENODE.origin,
        "reason": RENODE.reason,
        "renode": RENODE.command,
    }) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

renode_config = rule(implementation = _impl)
