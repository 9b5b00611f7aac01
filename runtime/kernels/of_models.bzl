"""`kernels_of_models`: the implementation of selected.h with the kernels that the calls of given models need.

    kernels_of_models(
        name = "kernels",
        models = [":digits", ":words"],
    )

is a library that defines selected_kernels(), for an image in the place of //runtime/kernels:selected. `models` are
delegate_model targets, or cc_library targets with a NAME.kernels.h that `cmsisnn compile` wrote.
"""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_library")

_SUFFIX = ".kernels.h"

def _header(model):
    """Returns the path to #include of the one NAME.kernels.h of `model`."""
    headers = [
        header
        for header in model[CcInfo].compilation_context.direct_public_headers
        if header.basename.endswith(_SUFFIX)
    ]
    if len(headers) != 1:
        fail("%s is no delegate_model: it has %d headers NAME%s, not one" % (model.label, len(headers), _SUFFIX))

    # "../<repository>/<path>" in another repository, whose root is on the include path.
    path = headers[0].short_path
    return "/".join(path.split("/")[2:]) if path.startswith("../") else path

def _identifier(name):
    """Returns the C name that the compiler gives to model `name`."""
    identifier = "".join([c if c.isalnum() or c == "_" else "_" for c in name.elems()])
    return "_" + identifier if identifier[0].isdigit() else identifier

def _impl(ctx):
    headers = [_header(model) for model in ctx.attr.models]
    tables = [_identifier(header.rpartition("/")[2][:-len(_SUFFIX)]) + "_kernels" for header in headers]
    table = tables[0]
    if len(tables) > 1:
        table = tables[0] + "_to_join" + "".join([".joined(%s_to_join)" % other for other in tables[1:]])
    ctx.actions.write(ctx.outputs.source, "\n".join([
        "// The kernels of %s. Generated; do not edit." % ", ".join([str(m.label) for m in ctx.attr.models]),
    ] + ['#include "%s"' % header for header in headers] + [
        '#include "runtime/kernels/selected.h"',
        "",
        "namespace cmsis_nn_delegate {",
        "namespace {",
        "constexpr KernelTable kKernels = %s;" % table,
        "}  // namespace",
        "",
        "const KernelTable& selected_kernels() { return kKernels; }",
        "}  // namespace cmsis_nn_delegate",
        "",
    ]))

_kernels_source = rule(
    implementation = _impl,
    attrs = {
        "models": attr.label_list(providers = [CcInfo], allow_empty = False, mandatory = True),
        "source": attr.output(mandatory = True),
    },
)

def kernels_of_models(name, models, **kwargs):
    """Declares the library.

    Args:
      name: of the library.
      models: whose kernels it has. Several models' kernels are joined into one table, each once.
      **kwargs: tags, visibility, ...
    """
    _kernels_source(
        name = name + "_source",
        models = models,
        source = name + ".cc",
        **kwargs
    )
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        deps = models + [str(Label("//runtime/kernels:selected_header"))],
        **kwargs
    )
