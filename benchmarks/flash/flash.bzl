"""`flash_images`: images that link one network and the kernels that it calls."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//platforms:firmware.bzl", "firmware")
load("//platforms:host_genrule.bzl", "host_genrule")

FLASH_CORES = [
    "cortex_m4",
    "cortex_m55",
]
FLASH_PROVIDERS = [
    "cmsis_nn",
    "tuned",
]
_SUFFIXES = [".h", ".kernels.h", ".c"]

def flash_images(network):
    """Declares <network>_<core>_<providers>, an image for each of FLASH_CORES and FLASH_PROVIDERS.

    Args:
      network: a network of MLPerf Tiny.
    """
    names = ["%s_%s_%s" % (network, core, providers) for core in FLASH_CORES for providers in FLASH_PROVIDERS]
    host_genrule(
        name = network + "_generated",
        testonly = True,
        outs = ["%s/network%s" % (name, suffix) for name in names for suffix in _SUFFIXES],
        # One thread, because torch sizes its thread pool by the machine.
        cmd = "OMP_NUM_THREADS=1 $(execpath :generate) %s $(RULEDIR)" % network,
        tags = ["manual"],
        tools = [":generate"],
    )
    for core in FLASH_CORES:
        for providers in FLASH_PROVIDERS:
            name = "%s_%s_%s" % (network, core, providers)
            cc_library(
                name = name + "_main",
                testonly = True,
                srcs = ["main.cc"] + ["%s/network%s" % (name, suffix) for suffix in _SUFFIXES],
                includes = [name],
                tags = ["manual"],
                target_compatible_with = ["@platforms//os:none"],
                deps = [
                    "//platforms/bsp",
                    "//platforms/bsp:abort",
                    "//runtime/backend",
                    "//runtime/kernels:for_models",
                    "//runtime/standalone:et_shim",
                    "//runtime/standalone:model",
                ],
                alwayslink = True,
            )
            firmware(
                name = name + "_image",
                testonly = True,
                by_default = [],
                cores = [core],
                tags = ["manual"],
                targets = "%s_{core}_%s" % (network, providers),
                deps = [":%s_main" % name],
            )
