"""`delegate_model`: a PyTorch model in a build, from its Python function to a library for firmware.

    delegate_model(
        name = "digits",
        srcs = ["digits_model.py"],
        function = "model",
        calibration = "calibration.npz",
        deps = ["//examples/digits"],
    )

runs `cmsisnn compile` once for each instruction set, however many cores are built, and gives

    :digits      cc_library with the payload for the instruction set of the core that is being built (of
                 the host: for cores with MVE), digits.h, and digits.kernels.h with the table of the
                 kernels that it calls
    :digits_cpp  cc_library with the model as C++ calls in the place of the payload, for the same instruction
                 set: digits.h and digits.model.h. Not with `memories`
    :digits_<isa>  all files that the compiler writes for scalar, dsp and mve
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_python//python:defs.bzl", "py_binary")
load("//platforms:cores.bzl", "ISAS", "TARGETS", "core_of_isa", "select_core")
load("//platforms:host_genrule.bzl", "host_genrule")

_MAIN = str(Label("//aot/cmsis_nn_delegate:__main__.py"))
_CLI = str(Label("//aot/cmsis_nn_delegate:cli"))
_KERNELS = str(Label("//runtime/kernels:for_models"))

_CHOICES = {
    "io": ["int8", "float", "quantized"],
    "io_placement": ["arena", "caller"],
    "linear_weights": ["per-channel", "per-tensor"],
}
_FILES = ["pte", "payload.bin", "h", "kernels.h", "c", "graph.npz", "report.txt", "report.json"]
_CPP_FILES = ["model.h", "model.cc"]

def delegate_model(
        name,
        srcs,
        function,
        calibration = None,
        deps = [],
        io = "int8",
        io_placement = "arena",
        linear_weights = "per-channel",
        max_arena = None,
        max_flash = None,
        max_instructions = None,
        memories = [],
        state = {},
        sequences = False,
        stream = None,
        **kwargs):
    """Declares the targets above.

    Args:
      name: of the library, and of the model in its files and C names.
      srcs: one Python file.
      function: in it, returns a module, or (module, example_inputs).
      calibration: label of an .npz with representative inputs; None if the model is quantized already, by
        `convert_trained` for example.
      deps: py_library targets that `srcs` imports.
      io: "int8", "float" or "quantized" inputs and outputs: these have the types that they are quantized to, which
        may be int16.
      io_placement: "caller" if the arena needs no room for inputs and outputs.
      linear_weights: "per-tensor" for faster linear layers, "per-channel" for more accurate ones; only with
        `calibration`.
      max_arena: the most bytes that the arena may take, for every instruction set: the build fails if it takes
        more, and says which buffers are the largest.
      max_flash: the most bytes that the payload may take, likewise.
      max_instructions: the most instructions that the compiler may predict for the calls of an inference, likewise;
        or a dict of such limits by core, of those that models are compiled for: {"cortex-m4": 3000000}.
      memories: the device's RAM as `cmsisnn compile --memory` takes it, the fastest first:
        ["dtcm=64K:activations,scratch,weights", "sram=256K"]; see docs/guides/memory.md. By default there is one arena
        of any size.
      state: inputs that the model keeps from one inference to the next, each with the output that is its next value,
        by number or by the name that forward gives it: {"h": "1"}.
      sequences: whether the arrays of `calibration` are [sequences, steps, ...], as for `cmsisnn compile --sequence`.
      stream: "DIM=HOP" for a model that takes HOP new columns of dimension DIM in each inference, as `cmsisnn compile
        --stream`; see docs/guides/stream.md.
      **kwargs: visibility, tags, ...
    """
    if len(srcs) != 1:
        fail("srcs of %s: give the one file that has the function" % name)
    for attribute, value in [("io", io), ("io_placement", io_placement), ("linear_weights", linear_weights)]:
        if value not in _CHOICES[attribute]:
            fail("%s of %s: %r is not one of %s" % (attribute, name, value, ", ".join(_CHOICES[attribute])))
    py_binary(
        name = name + "_compiler",
        srcs = [_MAIN],
        data = srcs,
        main = _MAIN,
        # In another workspace's runfiles an __init__.py that Bazel adds would make this repository's folder
        # the package cmsis_nn_delegate.
        legacy_create_init = 0,
        deps = deps + [_CLI],
        **kwargs
    )
    quantization = ""
    if calibration:
        quantization = "--calibration $(execpath %s) --linear-weights %s " % (calibration, linear_weights)
        if sequences:
            quantization += "--sequence "
    states = "".join(["--state %s=%s " % (input, output) for input, output in state.items()])
    if stream:
        states += "--stream=%s " % stream
    cores = {isa: core_of_isa(isa).cpu for isa in ISAS}
    instructions = max_instructions
    if type(instructions) != "dict":
        instructions = {core: instructions for core in cores.values()}
    for core in instructions:
        if core not in cores.values():
            fail("max_instructions of %s: models are compiled for %s, not for %s" % (
                name,
                ", ".join(cores.values()),
                core,
            ))
    for isa, core in cores.items():
        limits = "".join(["--%s %d " % (option, limit) for option, limit in [
            ("max-arena", max_arena),
            ("max-flash", max_flash),
            ("max-instructions", instructions.get(core)),
        ] if limit != None])
        outs = ["%s/%s.%s" % (isa, name, suffix) for suffix in _FILES + ([] if memories else _CPP_FILES)]
        host_genrule(
            name = "%s_%s" % (name, isa),
            srcs = srcs + ([calibration] if calibration else []),
            outs = outs,
            # Quiet unless it fails.
            cmd = ("log=$$(OMP_NUM_THREADS=1 $(execpath :{name}_compiler) compile $(execpath {src}):{function} " +
                   "--target {core} {quantization}{states}--io {io} --io-placement {io_placement} " +
                   "--strict --name {name} " +
                   "{limits}{forms}-o $(RULEDIR)/{isa} 2>&1) || {{ echo \"$$log\" >&2; exit 1; }}").format(
                core = core,
                # C++ calls have one arena, and no init() that copies weights.
                forms = "".join(["--memory '%s' " % memory for memory in memories]) if memories else "--emit cpp ",
                function = function,
                io = io,
                io_placement = io_placement,
                isa = isa,
                limits = limits,
                name = name,
                quantization = quantization,
                src = srcs[0],
                states = states,
            ),
            message = "Compiling model %s for %s" % (name, core),
            tools = [":%s_compiler" % name],
            **kwargs
        )
    isas = {name: target.isa for name, target in TARGETS.items()}
    suffixes = [".h", ".kernels.h", ".c"] + ([] if memories else [".model.h", ".model.cc"])
    sources = [name + suffix for suffix in suffixes]
    native.genrule(
        name = name + "_sources",
        srcs = select_core(
            {core: ["%s/%s" % (isa, source) for source in sources] for core, isa in isas.items()},
            default = ["mve/" + source for source in sources],
        ),
        outs = sources,
        cmd = "cp $(SRCS) $(RULEDIR)",
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".c"],
        hdrs = [name + ".h", name + ".kernels.h"],
        deps = [_KERNELS],
        **kwargs
    )
    if not memories:
        cc_library(
            name = name + "_cpp",
            srcs = [name + ".model.cc"],
            hdrs = [name + ".h", name + ".model.h"],
            deps = [_KERNELS],
            **kwargs
        )
