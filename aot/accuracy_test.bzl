"""`accuracy_test`: how exact a model is on a data set, as a test whose shards each measure a part of the data.

    accuracy_test(
        name = "digits_accuracy_test",
        size = "medium",
        srcs = ["digits_model.py"],
        function = "model",
        calibration = "calibration.npz",
        data_set = "held_out.npz",
        labels = "labels",
        min_top1 = 0.95,
        max_steps = 1,
        shard_count = 4,
        deps = ["//examples/digits"],
    )

Each shard compiles the model, runs every fourth sample as `cmsisnn accuracy --part` does, and fails if its samples are
less accurate than the limits: choose limits that a part of the data keeps. It prints its table into test.log and writes
its JSON, part_1_of_4.json, into its test.outputs. Bazel runs shards side by side, or on the machines of a service.
`cmsisnn accuracy-sum` adds the JSON files up: see docs/guides/quantization_and_accuracy.md.
"""

load("@rules_python//python:defs.bzl", "py_test")
load("//platforms:cores.bzl", "TARGETS")

_MAIN = str(Label("//aot:accuracy_part.py"))
_CLI = str(Label("//aot/cmsis_nn_delegate:cli"))
_SIMULATOR = str(Label("//sim:simulator"))
_LIBRARY = str(Label("//runtime:libcmsis_nn_delegate.so"))

def accuracy_test(
        name,
        srcs,
        function,
        data_set,
        calibration = None,
        labels = None,
        core = "cortex_m55",
        on = "host",
        linear_weights = "per-channel",
        min_top1 = None,
        min_sqnr = None,
        max_steps = None,
        deps = [],
        data = [],
        tags = [],
        **kwargs):
    """Declares the test.

    Args:
      name: name of the test.
      srcs: one Python file, as in delegate_model.
      function: in it, returns a module, or (module, example_inputs).
      data_set: label of an .npz with the inputs that are measured.
      calibration: as in delegate_model; None if the model is quantized already.
      labels: name of the array of `data_set` with the class of each input.
      core: the core that the model is compiled for.
      on: what computes the device's outputs: "host" for its kernels on the machine of the test, "simulator" for
        firmware on a simulated `core`.
      linear_weights: as in delegate_model.
      min_top1: the least share of the labels that are right on the device, from 0 to 1.
      min_sqnr: the least ratio of signal to noise of the device's outputs next to the float model, in dB.
      max_steps: by how many steps an output of the device may differ from the quantized model in PyTorch.
      deps: py_library targets that `srcs` imports.
      data: further files that they read.
      tags: further tags.
      **kwargs: size, shard_count, visibility, ...
    """
    if len(srcs) != 1:
        fail("srcs of %s: give the one file that has the function" % name)
    if on not in ["host", "simulator"]:
        fail("on of %s: %r is neither \"host\" nor \"simulator\"" % (name, on))
    args = ["$(rootpath %s):%s" % (srcs[0], function), "--data", "$(rootpath %s)" % data_set]
    args += ["--target", TARGETS[core].cpu, "--on", on]
    files = srcs + [data_set]
    if calibration:
        args += ["--calibration", "$(rootpath %s)" % calibration, "--linear-weights", linear_weights]
        files = files + ([] if calibration == data_set else [calibration])
    if labels:
        args += ["--labels", labels]
    for option, limit in [("min-top1", min_top1), ("min-sqnr", min_sqnr), ("max-steps", max_steps)]:
        if limit != None:
            args += ["--" + option, str(limit)]
    if on == "host":
        args += ["--library", "$(rootpath %s)" % _LIBRARY]
        files = files + [_LIBRARY]
    else:
        firmware = str(Label("//runtime:" + core))
        args += ["--firmware", "$(rootpaths %s)" % firmware]
        files = files + [firmware]
        deps = deps + [_SIMULATOR]
        tags = tags + ["simulator"]
    py_test(
        name = name,
        srcs = [_MAIN],
        main = _MAIN,
        args = args,
        data = data + files,
        env = {"OMP_NUM_THREADS": "1"},
        # As in delegate_model.
        legacy_create_init = 0,
        tags = tags,
        deps = deps + [_CLI],
        **kwargs
    )
