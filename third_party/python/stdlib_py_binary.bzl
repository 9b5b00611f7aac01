"""`stdlib_py_binary`: a Python program that needs only the standard library.

It runs with the system's python3, not in the environment of the locked packages, so a firmware build
that generates a header or checks an image does not have to install torch. Use it with `bazel run`, as
a tool of a genrule or a rule, or as data of a test:

    stdlib_py_binary(
        name = "generate",
        srcs = ["generate.py"],
        module = "runtime.payload.generate",
    )

    genrule(
        name = "header",
        outs = ["format.h"],
        cmd = "$(execpath :generate) $@",
        tools = [":generate"],
    )
"""

# Not `python3 -m`, which also imports from the current directory, which may be the source tree.
# $0.runfiles exists when Bazel runs the program itself. Inside another program's runfiles it does not exist, and
# the variable points to that program's runfiles, which contain these files too.
_LAUNCHER = """#!/bin/sh
runfiles="$0.runfiles"
[ -d "$runfiles" ] || runfiles="${{RUNFILES_DIR:-$TEST_SRCDIR}}"
case "$runfiles" in /*) ;; *) runfiles="$PWD/$runfiles" ;; esac
run='import runpy, sys; del sys.path[0]; runpy.run_module("{module}", run_name="__main__", alter_sys=True)'
export PYTHONPATH={path} PYTHONDONTWRITEBYTECODE=1
{start} python3 -s -c "$run" {arguments} "$@"
"""

# Without test.xml, Bazel runs another action to write it, with the test's duration among its arguments, which is thus
# never in a cache that machines share. What the test printed is in test.log.
_AND_REPORT = """code=$?
[ $code -eq 0 ] && failures=0 failure= || failures=1 failure="<failure message=\\"exit code $code\\"/>"
[ -z "${XML_OUTPUT_FILE:-}" ] || cat >"$XML_OUTPUT_FILE" <<END
<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="${TEST_TARGET:-}" tests="1" failures="$failures">
<testcase name="${TEST_TARGET:-}">$failure</testcase>
</testsuite></testsuites>
END
exit $code
"""

def _launch(ctx, start, end = ""):
    launcher = ctx.actions.declare_file(ctx.label.name + ".sh")
    roots = []
    for source in ctx.files.srcs:
        # If another repository calls a macro of this one, the sources are in this repository.
        root = "$runfiles/" + (source.owner.workspace_name or ctx.workspace_name)
        if root not in roots:
            roots.append(root)
    roots += ["%s/%s" % (root, directory) for root in roots for directory in ctx.attr.imports]
    ctx.actions.write(
        launcher,
        _LAUNCHER.format(
            arguments = " ".join(["'%s'" % a for a in ctx.attr.arguments]),
            module = ctx.attr.module,
            path = "\"%s\"" % ":".join(roots),
            start = start,
        ) + end,
        is_executable = True,
    )
    runfiles = ctx.runfiles(ctx.files.srcs + ctx.files.data + [launcher])
    for target in ctx.attr.data:
        runfiles = runfiles.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(executable = launcher, files = depset([launcher]), runfiles = runfiles)]

def _binary_impl(ctx):
    return _launch(ctx, "exec")

def _test_impl(ctx):
    return _launch(ctx, "", _AND_REPORT)

_ATTRS = {
    "arguments": attr.string_list(doc = "Arguments before those on the command line."),
    "data": attr.label_list(allow_files = True),
    "imports": attr.string_list(doc = "Folders of the workspace to import from, besides its root."),
    "module": attr.string(doc = "The module to run, as for python3 -m.", mandatory = True),
    "srcs": attr.label_list(allow_files = [".py"], doc = "All modules, including imported ones."),
}

stdlib_py_binary = rule(
    implementation = _binary_impl,
    attrs = _ATTRS,
    executable = True,
)

stdlib_py_test = rule(
    implementation = _test_impl,
    attrs = _ATTRS,
    doc = "The same as a test: exit code 0 is a pass. `module` may be unittest.",
    test = True,
)
