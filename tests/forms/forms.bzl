"""`network_images`: firmware with a network in each of its forms."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//platforms:cores.bzl", "CORES")
load("//platforms:firmware.bzl", "firmware")
load("//platforms:host_genrule.bzl", "host_genrule")
load("//runtime/kernels:optimization.bzl", "small_firmware")

# One for each instruction set with tuned kernels.
FORM_CORES = [
    "cortex_m4",
    "cortex_m55",
]

FORMS = [
    "cpp",
    "payload",
]

_FILES = ["net.h", "net.c", "net.kernels.h", "net.model.h", "net.model.cc", "net.payload"]

def network_images(network, providers = "", tags = [], target_compatible_with = []):
    """Declares <network><suffix>_<form>_<core> for each form and core, and files of its payload.

    <network><suffix>_small_<form>_<core> has kernels that are compiled for size.

    Args:
      network: a network of //tests/end_to_end.
      providers: of kernels, as in `cmsisnn compile --providers`; by default those of the network's payloads. The suffix
        then is their names.
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
            sources = {"cpp": ["net.model.cc"], "payload": ["net.c"]}[form]
            headers = {"cpp": ["net.h", "net.model.h"], "payload": ["net.h", "net.kernels.h"]}[form]
            library = "%s_%s" % (folder, form)
            cc_library(
                name = library,
                testonly = True,
                srcs = [form + "_main.cc"] + ["%s/%s" % (folder, file) for file in sources + headers],
                # So that all networks share the main programs.
                copts = ["-I$(GENDIR)/tests/forms/" + folder],
                tags = tags + ["manual"],
                target_compatible_with = target_compatible_with + ["@platforms//os:none"],
                deps = [
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
                name = library + "_image",
                testonly = True,
                by_default = [],
                cores = [core],
                tags = tags + ["manual"],
                targets = "%s_%s_{core}" % (name, form),
                deps = [":" + library],
            )
            small_firmware(
                testonly = True,
                by_default = [],
                cores = [core],
                image = ":%s_image" % library,
                tags = tags + ["manual"],
                targets = "%s_small_%s_{core}" % (name, form),
            )
