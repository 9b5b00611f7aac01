"""`network_artifacts`: one of the MLPerf Tiny networks, compiled, with input and expected output vectors.

The slow part of the end-to-end tests, done once for all of them. Outputs:

    NAME_<isa>.pte, NAME_<isa>.payload   for scalar, dsp and mve
    NAME_graph.npz                       the lowered graph, as compile_model writes it
    NAME_vectors.npz                     "inputs" int8 (16, ...) and "expected" int8 (16, ...)
"""

load("//platforms:cores.bzl", "ISAS")

def _impl(ctx):
    name = ctx.label.name
    vectors = ctx.actions.declare_file(name + "_vectors.npz")
    outputs = [vectors, ctx.actions.declare_file(name + "_graph.npz")]
    for isa in ISAS:
        outputs += [ctx.actions.declare_file("%s_%s.%s" % (name, isa, kind)) for kind in ["pte", "payload"]]
    ctx.actions.run(
        executable = ctx.executable._build,
        arguments = [ctx.attr.network, vectors.dirname + "/" + name],
        outputs = outputs,
        mnemonic = "AotCompile",
        progress_message = "Compiling network %s" % ctx.attr.network,
        # torch sizes its thread pool by the machine; one thread keeps results and load the same everywhere.
        env = {"OMP_NUM_THREADS": "1"},
    )
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(outputs))]

network_artifacts = rule(
    implementation = _impl,
    attrs = {
        "network": attr.string(mandatory = True),
        "_build": attr.label(
            default = "//tests/end_to_end:build_network",
            executable = True,
            cfg = "exec",
        ),
    },
)
