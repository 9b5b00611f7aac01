"""`executorch_image`: firmware with ExecuTorch's executor, the delegate, and kernels of your choice.

    executorch_image(
        name = "image",
        models = [":digits"],
        kernels = [":my_relu"],
    )

    executorch_firmware(image = ":image")  # for every core

Each of `models` is a delegate_model, whose .pte the image can run: of the delegate it links the kernels that their calls
need, and no others. Without `models` it has all kernels of the delegate, for any program.

Each of `kernels` is a cc_library with alwayslink that registers kernels for operators outside of the
delegate: your own, or ExecuTorch's portable ones.

    // sigmoid.cc                         deps = ["@executorch//:portable_op_sigmoid"]
    EXECUTORCH_LIBRARY(aten, "sigmoid.out", torch::executor::native::sigmoid_out);

Nothing else of a kernel library is linked. A program that needs a kernel which is not there is refused
by its name; a fully delegated program needs none. tests/executorch/sigmoid_kernel.cc is an example.
"""

load("//platforms:firmware.bzl", "firmware_image")
load("//runtime/kernels:of_models.bzl", "kernels_of_models")
load("//third_party/executorch:availability.bzl", "EXECUTOR")

def _unavailable_impl(ctx):
    fail("%s needs ExecuTorch's runtime, whose sources cannot be had: %s" % (ctx.label, ctx.attr.reason))

_unavailable = rule(
    implementation = _unavailable_impl,
    attrs = {"reason": attr.string()},
)

def executorch_image(name, models = [], kernels = [], profile = False, **kwargs):
    """Declares the image.

    Args:
      name: of the target; only `executorch_firmware` can build it.
      models: delegate_model targets whose programs it runs; by default, the image runs any program.
      kernels: libraries that register kernels besides the delegate.
      profile: with ExecuTorch's event tracer, to time every call of the delegate.
      **kwargs: of firmware_image.
    """
    if not EXECUTOR.available:
        _unavailable(
            name = name,
            reason = EXECUTOR.reason,
            tags = ["manual"],
        )
        return
    runner = "//runtime/runner/executorch:executorch"
    if models:
        runner += "_without_kernels"
        kernels_of_models(
            name = name + "_kernels",
            models = models,
            tags = ["manual"],
        )
        kernels = [":%s_kernels" % name] + kernels
    firmware_image(
        name = name,
        tags = ["manual"],  # only an executorch_firmware compiles it with the right headers
        deps = [str(Label(runner + ("_profile" if profile else "")))] + kernels,
        **kwargs
    )
