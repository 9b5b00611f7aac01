"""`llvm_config`: tells the models of cycles which LLVM Bazel found."""

load("@llvm//:info.bzl", "LLVM")

def _impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode({"folder": LLVM.folder, "reason": LLVM.reason}) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

llvm_config = rule(implementation = _impl)
