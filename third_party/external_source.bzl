"""Repository rules for the sources pinned in pins.bzl.

The files come from the first of these that exists: the checkout named by the pin's environment variable, the
entries of `system_paths`, a shallow git fetch of the pinned commit. Nothing is resolved until a build needs a
target of the repository.

A source with `unless_had` is optional: if it is unavailable, the rule prints that once, and the repository has no
targets. BUILD files can check this:

    load("@executorch//:info.bzl", "SOURCE")

    SOURCE.available   True or False
    SOURCE.origin      where the files are from: "EXECUTORCH_DIR", a path, or the pinned commit
    SOURCE.reason      if not available: one line that says why, and what to do
"""

load("//third_party:pins.bzl", "PINS")

_GIT_ENV = {
    "GIT_TERMINAL_PROMPT": "0",  # Fail instead of asking for a password.
}

# Less than 1 KB/s for 30 s ends a fetch.
_STALLED = ["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"]

# Bazel would read these as files of this workspace.
_WORKSPACE_FILES = ["BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel", ".git"]

# The repository without an overlay has the files, but no target that builds them.
_FILES_ONLY = """filegroup(
    name = "files",
    srcs = glob(["**"], exclude = ["BUILD.bazel", "WORKSPACE", "info.bzl"]),
    visibility = ["//visibility:public"],
)
"""

_INFO = """# Made by external_source.bzl.
SOURCE = struct(
    available = %r,
    origin = %r,
    reason = %r,
)
"""

def _one_line(text):
    return " ".join([word for word in text.replace("\n", " ").split(" ") if word])

def _link_tree(rctx, root, into):
    for child in root.readdir():
        if child.basename not in _WORKSPACE_FILES:
            rctx.symlink(child, into + child.basename)

def _git_fetch(rctx, pin, into):
    """Fetches the pinned commit; returns why that failed, or an empty string."""
    advice = "Set %s to a checkout of this commit to build without the network." % pin["env"]
    git = rctx.which("git")
    if not git:
        return "%s at %s is needed, but git was not found. %s" % (pin["remote"], pin["commit"], advice)
    if rctx.attr.unless_had:
        # A server that does not answer must not delay a build for an optional source.
        reason = json.decode(rctx.read(rctx.attr.servers))[rctx.attr.pin]
        if reason:
            return "%s. %s" % (reason, advice)
    rctx.report_progress("fetching %s" % pin["remote"])
    directory = str(rctx.path(into or "."))
    at = ["-C", directory]
    for what, args in [
        ("init", ["init", "--quiet", directory]),
        ("fetch", at + _STALLED + ["fetch", "--quiet", "--depth", "1", pin["remote"], pin["commit"]]),
        ("checkout", at + ["-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD"]),
    ]:
        result = rctx.execute([git] + args, environment = _GIT_ENV, timeout = 1800)
        if result.return_code:
            return ("git %s failed for %s at %s:\n%s.\n%s" %
                    (what, pin["remote"], pin["commit"], result.stderr.strip(), advice))
    for name in _WORKSPACE_FILES:
        rctx.delete(into + name)
    return ""

def _check_commit(rctx, pin, directory):
    """Refuses a checkout of another commit. Sources without .git cannot be checked."""
    git = rctx.which("git")
    if not git or not rctx.path(directory + "/.git").exists:
        return
    result = rctx.execute([git, "-C", directory, "rev-parse", "HEAD"])
    head = result.stdout.strip()
    if not result.return_code and head != pin["commit"]:
        fail("%s=%s is at commit %s, but %s is needed: check that out" %
             (pin["env"], directory, head, pin["commit"]))

def _impl(rctx):
    pin = PINS[rctx.attr.pin]
    into = rctx.attr.into + "/" if rctx.attr.into else ""
    root = None
    origin = "commit " + pin["commit"]
    reason = ""
    directory = rctx.os.environ.get(pin["env"])
    if directory:
        root = rctx.path(directory)
        if not root.exists:
            fail("%s=%s does not exist" % (pin["env"], directory))
        if rctx.attr.expect and not rctx.path(directory + "/" + rctx.attr.expect).exists:
            fail("%s=%s is not a checkout of %s: it has no %s" %
                 (pin["env"], directory, pin["remote"], rctx.attr.expect))
        if rctx.attr.exact:
            _check_commit(rctx, pin, directory)
        origin = pin["env"]
    else:
        for candidate in rctx.attr.system_paths:
            if rctx.path(candidate).exists:
                root = rctx.path(candidate)
                origin = candidate
                break
    if root != None:
        _link_tree(rctx, root, into)
    else:
        reason = _git_fetch(rctx, pin, into)
        if reason and not rctx.attr.unless_had:
            fail(reason)
        if reason:
            # buildifier: disable=print
            print("%s: %s How to try again: third_party/README.md." % (rctx.attr.unless_had, _one_line(reason)))
    rctx.file("WORKSPACE", "")
    rctx.file("info.bzl", _INFO % (not reason, "" if reason else origin, _one_line(reason)))
    if reason:
        rctx.file("BUILD.bazel", "# " + _one_line(reason) + "\n")
    elif rctx.attr.build_file:
        rctx.symlink(rctx.attr.build_file, "BUILD.bazel")
    else:
        rctx.file("BUILD.bazel", _FILES_ONLY)

def external_source_rule(pin):
    """Returns the repository rule for one of PINS.

    Args:
      pin: its key. There is a rule for each source, so that only a change of its own variable resolves it again.
    """
    return repository_rule(
        implementation = _impl,
        attrs = {
            "build_file": attr.label(
                allow_single_file = True,
                doc = "The overlay. Without it, the repository only has the filegroup `files`.",
            ),
            "exact": attr.bool(doc = "Refuse a checkout of another commit."),
            "expect": attr.string(doc = "A file that every checkout has; a directory without it is refused."),
            "into": attr.string(doc = "Folder of the repository for the files; default: its root."),
            "pin": attr.string(default = pin),
            "servers": attr.label(doc = "answers.json of source_servers, for sources with `unless_had`."),
            "system_paths": attr.string_list(doc = "Installed sources to prefer over a fetch."),
            "unless_had": attr.string(
                doc = "Makes the source optional: what a build does without it, for the message. A failure is recorded in info.bzl.",
            ),
        },
        environ = [PINS[pin]["env"]],
    )
