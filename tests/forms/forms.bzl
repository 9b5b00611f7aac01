"""`network_images`: firmware with a network in each of its forms."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//platforms:cores.bzl", "CORES")
load("//platforms:firmware.bzl", "firmware")
load("//platforms:host_genrule.bzl", "host_genrule")

# One for each instruction set with tuned kernels.
FORM_CORES = [
    "cortex_m4",
    "cortex_m55",
]

FORMS = [
    "cpp",
    "payload",
]

# The kernels of ds_cnn in `--providers tuned,portable`.
_FOR_SIZE = {
    "cortex_m4": [
        "conv2d/conv2d_joint_pairs_tuned.cc",
        "depthwise_conv2d/depthwise_conv2d_planes_stride1_tuned.cc",
    ],
    "cortex_m55": [
        "conv2d/conv2d_vectors_tuned.cc",
        "depthwise_conv2d/depthwise_conv2d_windows_tuned.cc",
        "fully_connected/fully_connected_vectors_tuned.cc",
    ],
}
_ALL_FOR_SIZE = [
    "avg_pool2d/avg_pool2d_channels_whole_tuned.cc",
    "softmax/softmax_portable.cc",
]

_FILES = ["net.h", "net.c", "net.kernels.h", "net.model.h", "net.model.cc", "net.payload"]

def kernels_for_size():
    """Declares <core>_kernels_for_size: the kernels of ds_cnn, compiled as with `--//runtime/kernels:for_size`.

    That would compile all kernels once more for each core. optimization_test tests what sets it.
    """
    for core in FORM_CORES:
        cc_library(
            name = core + "_kernels_for_size",
            testonly = True,
            srcs = ["//runtime/kernels:" + source for source in _FOR_SIZE[core] + _ALL_FOR_SIZE] +
                   ["//runtime/kernels:tuned_headers"],
            copts = ["-Os", "-ffp-contract=off"],
            tags = ["manual"],
            target_compatible_with = ["@platforms//os:none"],
            # A link takes kernels from the first library that has them, so from this one.
            deps = [
                "//runtime/kernels/portable:own_calls",
                "//runtime/kernels/tuned",
            ],
        )

def _network_image(name, folder, form, core, targets, kernels, tags, target_compatible_with):
    """Declares an image with a network in a form, in libraries named after `name`."""
    sources = {"cpp": ["net.model.cc"], "payload": ["net.c"]}[form]
    headers = {"cpp": ["net.h", "net.model.h"], "payload": ["net.h", "net.kernels.h"]}[form]
    cc_library(
        name = name,
        testonly = True,
        srcs = [form + "_main.cc"] + ["%s/%s" % (folder, file) for file in sources + headers],
        # So that all networks share the main programs.
        copts = ["-I$(GENDIR)/tests/forms/" + folder],
        tags = tags + ["manual"],
        target_compatible_with = target_compatible_with + ["@platforms//os:none"],
        deps = kernels + [
            ":patterns",
            "//runtime/kernels:for_models",
        ] + {
            "cpp": [],
            "payload": [
                "//runtime/backend",
                "//runtime/standalone:et_shim",
                "//runtime/standalone:model",
            ],
        }[form],
        alwayslink = True,
    )
    firmware(
        name = name + "_image",
        testonly = True,
        by_default = [],
        cores = [core],
        tags = tags + ["manual"],
        targets = targets,
        deps = [":" + name],
    )

def network_images(network, providers = "", for_size = False, tags = [], target_compatible_with = []):
    """Declares <network><suffix>_<form>_<core> for each form and core, and files of its payload.

    Args:
      network: a network of //tests/end_to_end.
      providers: of kernels, as in `cmsisnn compile --providers`; by default those of the network's payloads. The suffix
        then is their names.
      for_size: also declare <network><suffix>_small_<form>_<core>, with kernels_for_size().
      tags: of all targets.
      target_compatible_with: of all libraries.
    """
    name = network + ("_" + providers.partition(",")[0].replace("-", "_") if providers else "")
    for core in FORM_CORES:
        isa = CORES[core].isa
        folder = "%s_%s" % (name, isa)
        network_files = "//tests/end_to_end:%s" % network
        find = "$$(for f in $(execpaths %s); do echo $$f; done | grep %s)"
        if providers:
            arguments = find % (network_files, "_graph.npz") + " %s %s" % (CORES[core].cpu, providers)
        else:
            arguments = find % (network_files, "_%s.payload" % isa)
        host_genrule(
            name = folder + "_files",
            testonly = True,
            srcs = [network_files],
            outs = ["%s/%s" % (folder, file) for file in _FILES],
            cmd = "$(execpath :write_network) %s $(RULEDIR)/%s" % (arguments, folder),
            tags = tags + ["manual"],
            tools = [":write_network"],
        )
        for form in FORMS:
            library = "%s_%s" % (folder, form)
            targets = "%s_%s_{core}" % (name, form)
            _network_image(library, folder, form, core, targets, [], tags, target_compatible_with)
            if for_size:
                targets = "%s_small_%s_{core}" % (name, form)
                kernels = [":%s_kernels_for_size" % core]
                _network_image(library + "_small", folder, form, core, targets, kernels, tags, target_compatible_with)
