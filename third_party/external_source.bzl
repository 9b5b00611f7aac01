"""Repository rule for the sources pinned in pins.bzl.

Where the files come from, in this order: the checkout named by the pin's environment variable, the
first existing entry of `system_paths`, a shallow git fetch of the pinned commit. Nothing is
resolved until a target of the repository is needed.
"""

load("//third_party:pins.bzl", "PINS")

_GIT_ENV = {
    "GIT_TERMINAL_PROMPT": "0",  # Fail instead of asking for a password.
}

# Bazel would read these as its own.
_WORKSPACE_FILES = ["BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", ".git"]

# Without an overlay: the files, and nothing that builds them.
_FILES_ONLY = """filegroup(
    name = "files",
    srcs = glob(["**"], exclude = ["BUILD.bazel", "WORKSPACE"]),
    visibility = ["//visibility:public"],
)
"""

def _link_tree(rctx, root):
    for child in root.readdir():
        if child.basename not in _WORKSPACE_FILES:
            rctx.symlink(child, child.basename)

def _git_fetch(rctx, pin):
    advice = "Set %s to a checkout of this commit to build without the network." % pin["env"]
    git = rctx.which("git")
    if not git:
        fail("%s at %s is needed, but git was not found. %s" % (pin["remote"], pin["commit"], advice))
    rctx.report_progress("fetching %s" % pin["remote"])
    for args in [
        ["init", "--quiet", "."],
        ["fetch", "--quiet", "--depth", "1", pin["remote"], pin["commit"]],
        ["-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD"],
    ]:
        result = rctx.execute([git] + args, environment = _GIT_ENV, timeout = 1800)
        if result.return_code:
            fail("git %s failed for %s at %s:\n%s\n%s" %
                 (args[0], pin["remote"], pin["commit"], result.stderr.strip(), advice))
    for name in _WORKSPACE_FILES:
        rctx.delete(name)

def _impl(rctx):
    pin = PINS[rctx.attr.pin]
    root = None
    directory = rctx.os.environ.get(pin["env"])
    if directory:
        root = rctx.path(directory)
        if not root.exists:
            fail("%s=%s does not exist" % (pin["env"], directory))
    else:
        for candidate in rctx.attr.system_paths:
            if rctx.path(candidate).exists:
                root = rctx.path(candidate)
                break
    if root != None:
        _link_tree(rctx, root)
    else:
        _git_fetch(rctx, pin)
    rctx.file("WORKSPACE", "")
    if rctx.attr.build_file:
        rctx.symlink(rctx.attr.build_file, "BUILD.bazel")
    else:
        rctx.file("BUILD.bazel", _FILES_ONLY)

external_source = repository_rule(
    implementation = _impl,
    attrs = {
        "build_file": attr.label(
            allow_single_file = True,
            doc = "The overlay. Without one the repository only has the filegroup `files`.",
        ),
        "pin": attr.string(mandatory = True, values = PINS.keys()),
        "system_paths": attr.string_list(doc = "Installed sources to prefer over a fetch."),
    },
    # A change of one of these variables resolves again.
    environ = [pin["env"] for pin in PINS.values()],
)
