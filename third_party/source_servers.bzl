"""`source_servers`: checks once whether the servers of pinned sources answer, all at the same time.

Writes answers.json, pin -> why its server cannot be reached, or "". external_source.bzl reads it for optional
sources, so a machine without network waits only once, and not long. To check again, run

    bazel sync --only=source_servers              # Bazel 4 to 6
    bazel fetch --force --repo=@source_servers    # Bazel 7
"""

load("//third_party:pins.bzl", "PINS")

# git has no time limit for connections. Outputs go to files, so that a process that keeps running delays nothing.
_ASK = """
git=$1 seconds=$2; shift 2
while [ $# -gt 0 ]; do
  (timeout "$seconds" "$git" ls-remote --quiet "$2" HEAD >/dev/null 2>"$1.message" </dev/null; echo $? >"$1.code") &
  shift 2
done
wait
"""

def _reason(rctx, pin, remote):
    code = rctx.read(pin + ".code").strip()
    if code == "0":
        return ""
    message = rctx.read(pin + ".message").strip()
    if code == "124":
        message = "no answer within %d s" % rctx.attr.seconds
    return "%s cannot be reached: %s" % (remote, message or "git ls-remote ended with %s" % code)

def _impl(rctx):
    remotes = {pin: PINS[pin]["remote"] for pin in rctx.attr.pins}
    git = rctx.which("git")
    if git:
        rctx.report_progress("asking %s" % ", ".join(remotes.values()))
        arguments = []
        for pin, remote in remotes.items():
            arguments += [pin, remote]
        rctx.execute(
            ["sh", "-c", _ASK, "sh", git, str(rctx.attr.seconds)] + arguments,
            environment = {"GIT_TERMINAL_PROMPT": "0"},  # fail instead of asking for a password
        )
        answers = {pin: _reason(rctx, pin, remote) for pin, remote in remotes.items()}
    else:
        answers = {pin: "git was not found" for pin in remotes}
    rctx.file("answers.json", json.encode(answers) + "\n")
    rctx.file("WORKSPACE", "")
    rctx.file("BUILD.bazel", "exports_files([\"answers.json\"])\n")

source_servers = repository_rule(
    implementation = _impl,
    attrs = {
        "pins": attr.string_list(mandatory = True, doc = "Keys of PINS."),
        "seconds": attr.int(default = 10, doc = "How long to wait for an answer."),
    },
)
