"""Which kernels a build uses: `--define kernels=portable|cmsis_nn|auto`.

auto, the default, is CMSIS-NN if it can be had, else portable. The repository rule of @cmsis_nn finds that out,
and prints it where CMSIS-NN cannot be had. `KERNELS` has it for BUILD files:

    KERNELS.auto     "cmsis_nn" or "portable"
    KERNELS.reason   why
"""

load("@rules_cc//cc:defs.bzl", "CcInfo")
load("//third_party/cmsis_nn:availability.bzl", "CMSIS_NN")

KERNELS = struct(
    auto = "cmsis_nn" if CMSIS_NN.available else "portable",
    reason = "CMSIS-NN is from " + CMSIS_NN.origin if CMSIS_NN.available else CMSIS_NN.reason,
)

_CHOICES = ["auto", "cmsis_nn", "portable"]

# The provider's name in its kernel table and in banners.
_NAMES = {
    "cmsis_nn": "cmsis-nn",
    "portable": "portable",
}

def _provider_impl(ctx):
    choice = ctx.var.get("kernels", "auto")
    if choice not in _CHOICES:
        fail("--define kernels=%s: choose one of %s" % (choice, ", ".join(_CHOICES)))
    if choice == "cmsis_nn" and not CMSIS_NN.available:
        fail("--define kernels=cmsis_nn, but CMSIS-NN is absent: " + CMSIS_NN.reason)
    used = KERNELS.auto if choice == "auto" else choice
    info = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(info, json.encode(struct(
        choice = choice,
        cmsis_nn_available = CMSIS_NN.available,
        kernels = _NAMES[used],
        reason = KERNELS.reason if choice == "auto" else "--define kernels=" + choice,
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

def kernel_provider(name, portable, cmsis_nn, **kwargs):
    """The library that --define kernels=... chooses.

    Args:
      name: of the target. Its output group `info` is a JSON file: choice, kernels (as in banners),
        reason, cmsis_nn_available.
      portable, cmsis_nn: the libraries.
      **kwargs: visibility, ...
    """
    for choice in _CHOICES:
        native.config_setting(
            name = "%s_%s" % (name, choice),
            define_values = {"kernels": choice},
        )

    # Not marked incompatible without CMSIS-NN: the rule fails with the reason, which incompatibility would hide.
    libraries = {
        "cmsis_nn": cmsis_nn if CMSIS_NN.available else portable,
        "portable": portable,
    }
    _provider(
        name = name,
        provider = select({
            ":%s_cmsis_nn" % name: libraries["cmsis_nn"],
            ":%s_portable" % name: libraries["portable"],
            "//conditions:default": libraries[KERNELS.auto],
        }),
        **kwargs
    )
