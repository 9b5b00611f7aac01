"""`direct_images`: a network as C that calls CMSIS-NN, and images that run it."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//platforms:cores.bzl", "CORES")
load("//platforms:firmware.bzl", "firmware")
load("//platforms:host_genrule.bzl", "host_genrule")
load("//third_party/cmsis_nn:availability.bzl", "CMSIS_NN_LIBRARY_TAGS")

# One for each instruction set that generate.py writes.
DIRECT_CORES = [
    "cortex_m4",
    "cortex_m55",
]

def direct_images(network):
    """Declares <network>_<core>, an image for each of DIRECT_CORES, and <network>_generated, the C and JSON files.

    Args:
      network: a network of MLPerf Tiny.
    """
    isas = [CORES[core].isa for core in DIRECT_CORES]
    host_genrule(
        name = network + "_generated",
        testonly = True,
        outs = ["%s_%s.c" % (network, isa) for isa in isas] + [network + ".json"],
        # One thread, because torch sizes its thread pool by the machine.
        cmd = "OMP_NUM_THREADS=1 $(execpath :generate) %s $(RULEDIR)/%s" % (network, network),
        tags = ["manual"],
        tools = [":generate"],
    )
    for core in DIRECT_CORES:
        isa = CORES[core].isa
        cc_library(
            name = "%s_%s" % (network, isa),
            testonly = True,
            srcs = ["%s_%s.c" % (network, isa)],
            tags = CMSIS_NN_LIBRARY_TAGS + ["manual"],
            target_compatible_with = ["@platforms//os:none"],
            deps = [
                ":fully_connected",
                ":main",
                "//third_party/cmsis_nn",
            ],
        )
        firmware(
            name = "%s_%s_image" % (network, isa),
            testonly = True,
            by_default = [],
            cores = [core],
            tags = ["manual"],
            targets = network + "_{core}",
            deps = [":%s_%s" % (network, isa)],
        )
