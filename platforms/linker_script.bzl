"""`linker_script`: fills the linker script template with the memories of one board."""

load("//platforms:boards.bzl", "BOARDS")

def _impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".ld")
    memories = BOARDS[ctx.attr.board].memories
    ctx.actions.expand_template(
        output = output,
        substitutions = {
            "@MEMORIES@": "\n".join([
                "  %s : ORIGIN = %d, LENGTH = %d" % (name, origin, size)
                for name, (origin, size) in memories.items()
            ]),
        },
        template = ctx.file._template,
    )
    return [DefaultInfo(files = depset([output]))]

linker_script = rule(
    implementation = _impl,
    attrs = {
        "board": attr.string(mandatory = True, values = BOARDS.keys()),
        "_template": attr.label(default = "//platforms:image.ld.in", allow_single_file = True),
    },
)
