"""`selected_simulator`: the simulator that tests use, `--define simulator=renode|qemu|both|auto`.

The rule writes it to a JSON file, which the drivers read at run time: images do not depend on it. The default,
auto, is Renode if it is installed and can run the image, else QEMU; in tests, it is what they declare.
"""

load("//platforms:simulators.bzl", "SIMULATORS")

_CHOICES = ["auto", "both", "every", "fast"] + SIMULATORS.keys()

def _impl(ctx):
    choice = ctx.var.get("simulator", "auto")
    if choice not in _CHOICES:
        fail("--define simulator=%s: choose one of %s" % (choice, ", ".join(_CHOICES)))
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(output, json.encode({"simulator": choice}) + "\n")
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

selected_simulator = rule(implementation = _impl)
