"""Which kernels a build uses: `--define kernels=tuned|cmsis_nn|portable`.

tuned, the default, has the tuned kernels and, for what they do not compute, those of CMSIS-NN if it can be had, else
portable ones. The repository rule of @cmsis_nn finds that out, and prints it where CMSIS-NN cannot be had.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//third_party/cmsis_nn:availability.bzl", "CMSIS_NN")

_REASON = "CMSIS-NN is from " + CMSIS_NN.origin if CMSIS_NN.available else CMSIS_NN.reason

# The names of their tables of kernels, as in banners.
_NAMES = {
    "cmsis_nn": "cmsis-nn",
    "portable": "portable",
    "tuned": "tuned+cmsis-nn" if CMSIS_NN.available else "tuned",
}

def _provider_impl(ctx):
    choice = ctx.var.get("kernels", "tuned")
    if choice not in _NAMES:
        fail("--define kernels=%s: choose one of %s" % (choice, ", ".join(sorted(_NAMES))))
    if choice == "cmsis_nn" and not CMSIS_NN.available:
        fail("--define kernels=cmsis_nn, but CMSIS-NN is absent: " + CMSIS_NN.reason)
    info = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(info, json.encode(struct(
        choice = choice,
        cmsis_nn_available = CMSIS_NN.available,
        kernels = _NAMES[choice],
        reason = "--define kernels=portable" if choice == "portable" else _REASON,
        with_cmsis_nn = CMSIS_NN.available and choice != "portable",
    )) + "\n")
    provider = ctx.attr.provider
    return [
        provider[CcInfo],
        DefaultInfo(files = provider[DefaultInfo].files),
        OutputGroupInfo(info = depset([info])),
    ]

_provider = rule(
    implementation = _provider_impl,
    attrs = {"provider": attr.label(providers = [CcInfo], mandatory = True)},
)

def kernel_provider(name, tuned, cmsis_nn, portable, **kwargs):
    """The library that --define kernels=... chooses.

    Args:
      name: of the target. Its output group `info` is a JSON file: choice, kernels (as in banners), with_cmsis_nn
        (whether some are CMSIS-NN's), reason, cmsis_nn_available.
      tuned, cmsis_nn, portable: the libraries.
      **kwargs: visibility, ...
    """
    for choice in _NAMES:
        native.config_setting(
            name = "%s_%s" % (name, choice),
            define_values = {"kernels": choice},
        )

    # Not marked incompatible without CMSIS-NN: the rule fails with the reason, which incompatibility would hide.
    _provider(
        name = name,
        provider = select({
            ":%s_cmsis_nn" % name: cmsis_nn if CMSIS_NN.available else portable,
            ":%s_portable" % name: portable,
            "//conditions:default": tuned,
        }),
        **kwargs
    )
