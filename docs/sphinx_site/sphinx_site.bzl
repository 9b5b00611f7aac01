"""`sphinx_site`: a folder of HTML that Sphinx writes; a warning is an error."""

load("@python_docs//:info.bzl", "PYTHON_DOCS")

# Whether Sphinx is there, and if not: why, and what to do.
SPHINX = struct(available = PYTHON_DOCS.available, reason = PYTHON_DOCS.reason)

def _named(file):
    return "%s=%s" % (file.short_path, file.path)

def _impl(ctx):
    if not SPHINX.available:
        fail("there is no Sphinx: " + SPHINX.reason)
    folder = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add(folder.path)
    args.add_all(ctx.files.srcs, map_each = _named)
    ctx.actions.run(
        outputs = [folder],
        inputs = ctx.files.srcs + [ctx.file._packages],
        executable = ctx.executable._build,
        arguments = [args],
        env = {
            "OMP_NUM_THREADS": "1",
            "TORCH_LOGS": "-all",  # errors only
            "PYTHON_DOCS": ctx.file._packages.path,
        },
        # The packages are not inputs, only what names their versions.
        execution_requirements = {"no-remote-exec": "1"},
        mnemonic = "Sphinx",
        progress_message = "Writing the site of the documents",
    )
    files = depset([folder])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles([folder]))]

sphinx_site = rule(
    implementation = _impl,
    doc = "Makes pages of Markdown, and of what they include, in a folder with the name of the target.",
    attrs = {
        "srcs": attr.label_list(
            mandatory = True,
            allow_files = True,
            doc = "The pages, the files that they show or include, and the table of contents.",
        ),
        "_build": attr.label(
            default = "//docs/sphinx_site:build_site",
            executable = True,
            cfg = "exec",
        ),
        "_packages": attr.label(default = "@python_docs//:lock.txt", allow_single_file = True),
    },
)
