"""`committed_files`: generated files that are committed, for builds that cannot generate them.

    committed_files(
        name = "generate",
        files = {":made_of_the_table": "//cmake:table.cmake"},
    )

`bazel run :generate` writes the committed files. If one of them is out of date, the test `generate_test` fails
with a diff and that command.
"""

load("//third_party/python:stdlib_py_binary.bzl", "stdlib_py_binary", "stdlib_py_test")

_PROGRAM = Label("//tools:committed_files.py")

def _path(label):
    """Returns the path of "//package:file" from the root."""
    package, _, file = label[len("//"):].partition(":")
    return package + "/" + file if package else file

def committed_files(name, files, **kwargs):
    """Declares the program `name` and the test `<name>_test`.

    Args:
      name: name of the program.
      files: a target with one generated file -> the label of the committed file, "//package:file".
      **kwargs: visibility, ... of both targets.
    """
    command = "./bazelw run //%s:%s" % (native.package_name(), name)
    stdlib_py_binary(
        name = name,
        srcs = [str(_PROGRAM)],
        # Not as data: the first time they do not exist yet.
        args = ["--write"] + [
            "$(rootpath %s)=%s" % (generated, _path(committed))
            for generated, committed in files.items()
        ],
        data = files.keys(),
        module = "tools.committed_files",
        **kwargs
    )
    stdlib_py_test(
        name = name + "_test",
        size = "small",
        srcs = [str(_PROGRAM)],
        args = ["--command='%s'" % command] + [
            "$(rootpath %s)=$(rootpath %s)" % (generated, committed)
            for generated, committed in files.items()
        ],
        data = files.keys() + files.values(),
        module = "tools.committed_files",
        **kwargs
    )
