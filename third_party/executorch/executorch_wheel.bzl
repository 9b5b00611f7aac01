"""ExecuTorch from its Python wheel: the runtime's headers, and the runtime built for the host.

The files come from $CND_PYTHON_ENV if that is set, else from the wheel of the locked version. Only that wheel is
downloaded: a build that needs only C++ does not install torch.
"""

load("//third_party/python:python_env.bzl", "create_env", "existing_env")

_DISTRIBUTION = "executorch"

def _locked(rctx, lock):
    """Returns the lines of the lock about the package: "executorch==VERSION \\", then its hashes."""
    lines = []
    for line in rctx.read(lock).splitlines():
        if line.startswith(_DISTRIBUTION + "==") or (lines and line.startswith(" ")):
            lines.append(line)
        elif lines:
            break
    if lines:
        return lines
    fail("%s does not pin %s" % (rctx.attr.requirements, _DISTRIBUTION))

def _installed(rctx, python):
    """Returns the folder of the package in an environment (a namespace package, without __file__)."""
    result = rctx.execute([python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"])
    package = rctx.path(result.stdout.strip() + "/" + _DISTRIBUTION)
    if result.return_code or not package.get_child("include").exists:
        fail("%s has no package %s with C++ headers: install the packages of %s into it." %
             (python, _DISTRIBUTION, rctx.attr.requirements))
    return package

def _download(rctx, locked):
    """Downloads and unpacks the wheel; returns the folder of the package."""
    rctx.report_progress("downloading %s" % _DISTRIBUTION)
    rctx.file("locked.txt", "\n".join(locked) + "\n")
    python = create_env(rctx, "venv")
    result = rctx.execute([
        python,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
        "--dest=wheel",
        "--require-hashes",
        "--requirement=locked.txt",
    ], timeout = 1800)
    if result.return_code:
        fail("pip could not download %s:\n%s" % (_DISTRIBUTION, result.stderr))
    wheels = rctx.path("wheel").readdir()
    result = rctx.execute([python, "-m", "zipfile", "-e", wheels[0], "unpacked"], timeout = 600)
    if result.return_code:
        fail("could not unpack %s:\n%s" % (wheels[0], result.stderr))
    rctx.delete("venv")
    rctx.delete("wheel")

    # Python's zipfile does not keep the permission.
    rctx.execute(["chmod", "+x", "unpacked/%s/data/bin/flatc" % _DISTRIBUTION])
    return rctx.path("unpacked/" + _DISTRIBUTION)

def _impl(rctx):
    locked = _locked(rctx, rctx.path(rctx.attr.requirements))
    python = existing_env(rctx)
    package = _installed(rctx, python) if python else _download(rctx, locked)
    rctx.symlink(package.get_child("include"), "include")
    rctx.symlink(package.get_child("lib"), "lib")
    rctx.symlink(package.get_child("schema"), "schema")
    rctx.symlink(package.get_child("data").get_child("bin").get_child("flatc"), "bin/flatc")
    rctx.symlink(rctx.attr._build_file, "BUILD.bazel")
    rctx.file("info.bzl", "EXECUTORCH_VERSION = %r\n" % locked[0].split(" ")[0].split("==")[1])
    rctx.file("WORKSPACE", "")

executorch_wheel = repository_rule(
    implementation = _impl,
    attrs = {
        "requirements": attr.label(allow_single_file = True, mandatory = True),
        "_build_file": attr.label(
            default = "//third_party/executorch:executorch_wheel.BUILD",
            allow_single_file = True,
        ),
    },
    environ = ["CND_PYTHON", "CND_PYTHON_ENV"],
)
