"""Provides a virtual environment with the locked Python packages.

Uses the existing environment $CND_PYTHON_ENV as it is, if that is set; otherwise creates one with
$CND_PYTHON (default: python3 on $PATH) and installs the lock file.

Writes
  python3   the interpreter of all Python targets: a script that starts the environment's own. Its text is the same
            everywhere, so that what a target computes can come from a cache that another folder, user or machine filled
  lock.txt  the interpreter's version, the installed packages and the lock. Every target that uses the packages
            depends on it, so that it runs again when one of these changes
"""

_INSTALL_TIMEOUT_S = 3600

# Runfiles have links to this file. Where another machine runs an action, the environment is not beside it, but in the
# machine's image: see docs/remote.md.
_LAUNCHER = """#!/bin/sh
for env in "$(dirname "$(readlink -f "$0")")/venv" /opt/cnd_python_env; do
  [ -x "$env/bin/python3" ] && exec "$env/bin/python3" "$@"
done
echo "python3: there is no /opt/cnd_python_env on this machine: see docs/remote.md" >&2
exit 1
"""

# Nothing in it depends on where the environment is.
_IDENTITY = """
import importlib.metadata, platform, sys
print(sys.implementation.name, platform.python_version(), platform.system(), platform.machine())
packages = {(p.metadata["Name"], p.version) for p in importlib.metadata.distributions()}
print(*sorted("==".join(p) for p in packages), sep="\\n")
"""

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
    else:
        rctx.symlink(python.dirname.dirname, "venv")
    identity = rctx.execute([python, "-c", _IDENTITY])
    if identity.return_code:
        fail("%s cannot list its packages:\n%s" % (python, identity.stderr))
    rctx.file("lock.txt", identity.stdout + "\n" + rctx.read(lock))
    rctx.file("python3", _LAUNCHER, executable = True)
    rctx.file("BUILD.bazel", "exports_files([\n    \"lock.txt\",\n    \"python3\",\n])\n")
    rctx.file("WORKSPACE", "")

python_env = repository_rule(
    implementation = _impl,
    attrs = {
        "requirements": attr.label(allow_single_file = True, mandatory = True),
        "_install": attr.label(default = "//third_party/python:install.py", allow_single_file = True),
    },
    environ = ["CND_PYTHON", "CND_PYTHON_ENV"],
)
