"""`network_artifacts`: one of the MLPerf Tiny networks, compiled, with input and expected output vectors.

The slow part of the end-to-end tests, done once for all of them and for all platforms. Outputs:

    NAME_<isa>.pte, NAME_<isa>.payload   for scalar, dsp and mve
    NAME_graph.npz                       the lowered graph, as compile_model writes it
    NAME_vectors.npz                     "inputs" int8 (16, ...) and "expected" int8 (16, ...)
"""

load("//platforms:cores.bzl", "ISAS")
load("//platforms:host_genrule.bzl", "host_genrule")

_BUILD = "//tests/end_to_end:build_network"

def network_artifacts(name, network, **kwargs):
    """Declares the target `name`, which has the outputs above.

    Args:
      name: of the target and of its outputs.
      network: one that build_network knows.
      **kwargs: further arguments of the rule.
    """
    host_genrule(
        name = name,
        outs = [name + "_vectors.npz", name + "_graph.npz"] + [
            "%s_%s.%s" % (name, isa, kind)
            for isa in ISAS
            for kind in ["pte", "payload"]
        ],
        # torch sizes its thread pool by the machine; one thread keeps results and load the same everywhere.
        cmd = "OMP_NUM_THREADS=1 $(execpath %s) %s $(RULEDIR)/%s" % (_BUILD, network, name),
        message = "Compiling network %s" % network,
        tools = [_BUILD],
        **kwargs
    )
