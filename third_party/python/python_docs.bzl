"""Provides the packages that build the documentation, docs.lock, beside those of @python_env.

They are not a part of @python_env because only //docs:site needs them, and because they need another version of
docutils than a package there. Uses the packages of @python_env if it has them (a CND_PYTHON_ENV may), otherwise its pip.

Writes @python_docs//:info.bzl with PYTHON_DOCS, a struct:
  available   whether the packages are there
  reason      if not available: one line that says why, and what to do

and lock.txt, on which every target that uses the packages depends. If @python_env lacks them, they are in the folder
`packages` beside it. Missing packages do not fail here: the test of the site says why it is skipped.
"""

_MODULES = "furo, myst_parser, sphinx, sphinxarg"
_TIMEOUT_S = 300

_ADVICE = "; give pip a package index, or put the packages of third_party/python/docs.lock into CND_PYTHON_ENV"

def _problem(rctx, python, lock):
    """Installs the lock into the folder `packages`. Returns why that failed; an empty string if it did not."""
    rctx.report_progress("installing the packages that build the documentation")
    options = ["--disable-pip-version-check", "--no-input", "--no-color", "--quiet", "--no-compile", "--retries=1"]
    result = rctx.execute(
        [python, "-m", "pip", "install"] + options +
        ["--target=packages", "--no-deps", "--require-hashes", "--requirement", lock],
        timeout = _TIMEOUT_S,
    )
    if result.return_code == 0:
        return ""
    errors = [line for line in result.stderr.split("\n") if line.startswith("ERROR: ")]
    return "pip cannot install them: " + (errors or [result.stderr.strip()])[-1]

def _impl(rctx):
    lock = rctx.path(rctx.attr.requirements)
    python = rctx.path(rctx.attr._python)
    reason = ""
    if rctx.execute([python, "-c", "import " + _MODULES]).return_code:
        reason = _problem(rctx, python, lock)
        if reason:
            reason += _ADVICE
    rctx.file("lock.txt", rctx.read(rctx.path(rctx.attr._environment)) + rctx.read(lock))
    rctx.file("info.bzl", "PYTHON_DOCS = struct(\n    available = %r,\n    reason = %r,\n)\n" % (not reason, reason))
    rctx.file("BUILD.bazel", "exports_files([\n    \"info.bzl\",\n    \"lock.txt\",\n])\n")
    rctx.file("WORKSPACE", "")

python_docs = repository_rule(
    implementation = _impl,
    attrs = {
        "requirements": attr.label(allow_single_file = True, mandatory = True),
        "_environment": attr.label(default = "@python_env//:lock.txt", allow_single_file = True),
        "_python": attr.label(default = "@python_env//:python3", allow_single_file = True),
    },
)
