"""The public schemas of CMSIS-Packs and of the CMSIS-Toolbox's projects: from $CMSIS_SCHEMAS_DIR, else downloaded.

Writes @cmsis_schemas//:info.bzl with CMSIS_SCHEMAS.reason, one line that says why there are none, "" if there are; and
the filegroup `files`, which is empty then. A failure does not fail here: the test that needs them says why it is skipped.
"""

# Of the commits that are in the addresses.
_SPEC = "https://raw.githubusercontent.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec/f34f91d07e4299e8aab0e4ee7fb8ff4834001c3e/schema/"
_TOOLBOX = "https://raw.githubusercontent.com/Open-CMSIS-Pack/devtools/2593701ae64ee3094c8474867c071d71ef8c1d82/tools/projmgr/schemas/"
_FILES = {
    "PACK.xsd": (_SPEC, "76fd2cd95a2e3de3da20922723d624c7c356639cd79a2d5abd81efcec7c9e31b"),
    "common.schema.json": (_TOOLBOX, "12e325c816259db25913cc4494656f9b8d0467970c7a13df0fc0b6b942c8bcd2"),
    "cproject.schema.json": (_TOOLBOX, "6dda78ecfb1fce06594409840c83d46e4abfe81c3173a30f0691919769d2ccbd"),
    "csolution.schema.json": (_TOOLBOX, "d0d848f498cd661f259001069bb5959a92f9401210bfa1ef2aeae872a1f1f124"),
}

_ADVICE = ". Set CMSIS_SCHEMAS_DIR to a folder with %s" % ", ".join(_FILES)

def _from_folder(rctx, folder):
    for name in _FILES:
        path = rctx.path(folder + "/" + name)
        if not path.exists:
            return "CMSIS_SCHEMAS_DIR=%s has no %s" % (folder, name)
        rctx.symlink(path, name)
    return ""

def _download(rctx):
    # The same server's answer, so that a machine without network does not wait here too.
    unreachable = json.decode(rctx.read(rctx.attr.servers))["cmsis_nn"]
    if unreachable:
        return unreachable.replace("\n", " ") + _ADVICE
    for name, (address, sha256) in _FILES.items():
        if not rctx.download(address + name, name, sha256 = sha256, allow_fail = True).success:
            return "%s%s could not be downloaded%s" % (address, name, _ADVICE)
    return ""

def _impl(rctx):
    folder = rctx.os.environ.get("CMSIS_SCHEMAS_DIR")
    reason = _from_folder(rctx, folder) if folder else _download(rctx)
    rctx.file("info.bzl", "CMSIS_SCHEMAS = struct(reason = %r)\n" % reason)
    rctx.file("BUILD.bazel", "filegroup(\n    name = \"files\",\n    srcs = %r,\n    visibility = [\"//visibility:public\"],\n)\n" %
                             ([] if reason else _FILES.keys()))
    rctx.file("WORKSPACE", "")

cmsis_schemas = repository_rule(
    implementation = _impl,
    attrs = {"servers": attr.label(doc = "answers.json of source_servers.", mandatory = True)},
    environ = ["CMSIS_SCHEMAS_DIR"],
)
