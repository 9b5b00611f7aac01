"""Provides a virtual environment with the locked Python packages.

Uses the existing environment $CND_PYTHON_ENV as it is, if that is set; otherwise creates one with
$CND_PYTHON (default: python3 on $PATH) and installs the lock file.

Writes @python_env//:info.bzl with PYTHON_ENV.interpreter, and lock.txt. Every target that uses the packages
depends on lock.txt, so that it runs again when the lock or the interpreter changes.
"""

_INSTALL_TIMEOUT_S = 3600

def find_python(rctx):
    """Returns the interpreter that creates environments; fails and says what to install if there is none."""
    python = rctx.os.environ.get("CND_PYTHON") or rctx.which("python3")
    if not python:
        fail("python3 was not found. Use ./bazelw, install it, or set CND_PYTHON or CND_PYTHON_ENV.")
    return python

def existing_env(rctx):
    """Returns the interpreter of $CND_PYTHON_ENV, or None if that is not set."""
    directory = rctx.os.environ.get("CND_PYTHON_ENV")
    if not directory:
        return None
    python = rctx.path(directory + "/bin/python3")
    if not python.exists:
        fail("CND_PYTHON_ENV=%s has no bin/python3: it must name a virtual environment." % directory)
    return python

def create_env(rctx, directory):
    """Creates an empty virtual environment with pip; returns its interpreter."""
    python = find_python(rctx)

    # Debian splits the standard library: ensurepip, without which venv does not work, is a separate package.
    if rctx.execute([python, "-c", "import ensurepip, venv"]).return_code:
        fail(("%s cannot create virtual environments: it lacks the modules venv and ensurepip. " % python) +
             "Use ./bazelw, install them (Debian: python3-venv), or set CND_PYTHON to another Python " +
             "or CND_PYTHON_ENV to a virtual environment with the packages of %s." % rctx.attr.requirements)
    result = rctx.execute([python, "-m", "venv", directory], timeout = 600)
    if result.return_code:
        fail("%s -m venv failed:\n%s%s" % (python, result.stdout, result.stderr))
    return rctx.path(directory + "/bin/python3")

def _impl(rctx):
    lock = rctx.path(rctx.attr.requirements)
    python = existing_env(rctx)
    if not python:
        rctx.report_progress("creating the virtual environment")
        python = create_env(rctx, "venv")
        rctx.report_progress("installing the Python packages")
        result = rctx.execute(
            [python, rctx.path(rctx.attr._install), python, lock],
            timeout = _INSTALL_TIMEOUT_S,
            quiet = False,
        )
        if result.return_code:
            fail("pip could not install %s: its messages are above." % rctx.attr.requirements)
    rctx.file("lock.txt", "%s\n%s" % (python, rctx.read(lock)))
    rctx.file("info.bzl", "PYTHON_ENV = struct(interpreter = %r)\n" % str(python))
    rctx.file("BUILD.bazel", "exports_files([\n    \"info.bzl\",\n    \"lock.txt\",\n])\n")
    rctx.file("WORKSPACE", "")

python_env = repository_rule(
    implementation = _impl,
    attrs = {
        "requirements": attr.label(allow_single_file = True, mandatory = True),
        "_install": attr.label(default = "//third_party/python:install.py", allow_single_file = True),
    },
    environ = ["CND_PYTHON", "CND_PYTHON_ENV"],
)
