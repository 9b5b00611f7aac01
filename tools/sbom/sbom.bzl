"""`sbom`: the SPDX bill of materials of a firmware image.

    sbom(
        name = "bill",
        firmware = ":cortex_m55",
    )

writes bill.spdx.json: the image with its hash, and the components in it with versions, licences and bytes of flash.
"""

def _impl(ctx):
    image = {file.extension: file for file in ctx.files.firmware if file.extension == "elf"}
    sizes = [file for file in ctx.files.firmware if file.basename.endswith(".size.json")]
    output = ctx.actions.declare_file(ctx.label.name + ".spdx.json")
    arguments = ctx.actions.args()
    arguments.add("image")
    arguments.add(image["elf"])
    arguments.add("--output", output)
    arguments.add("--name", "//%s:%s" % (ctx.attr.firmware.label.package, ctx.attr.firmware.label.name))
    ctx.actions.run(
        executable = ctx.executable._tool,
        arguments = [arguments],
        inputs = [image["elf"]] + sizes,
        outputs = [output],
        mnemonic = "Sbom",
        progress_message = "Writing the bill of materials %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

sbom = rule(
    implementation = _impl,
    attrs = {
        "firmware": attr.label(doc = "A target of firmware().", mandatory = True),
        "_tool": attr.label(default = "//tools/sbom", executable = True, cfg = "exec"),
    },
)
