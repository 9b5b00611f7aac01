"""The files for the Bazel Central Registry fit the module."""

import ast
import json
import re

import yaml

from tests.external.inner_bazel import ROOT

BCR = ROOT / ".bcr"


def calls(path):
    """Returns (function, arguments by name) of the calls in a MODULE.bazel; those without a name have numbers."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            arguments = dict(enumerate(ast.literal_eval(a) for a in node.value.args if isinstance(a, ast.Constant)))
            arguments |= {k.arg: ast.literal_eval(k.value) for k in node.value.keywords}
            found.append((ast.unparse(node.value.func), arguments))
    return found


def of(path, function):
    return [arguments for name, arguments in calls(path) if name == function]


def test_the_module_test_is_a_workspace_that_uses_this_module():
    (test,) = (yaml.safe_load((BCR / "presubmit.yml").read_text()),)
    workspace = ROOT / test["bcr_test_module"]["module_path"]
    (override,) = of(workspace / "MODULE.bazel", "local_path_override")
    (module,) = of(ROOT / "MODULE.bazel", "module")
    assert override["module_name"] == module["name"]
    assert (workspace / override["path"]).resolve() == ROOT.resolve()
    assert {"name": module["name"], "version": module["version"]} in of(workspace / "MODULE.bazel", "bazel_dep")


def test_the_module_test_installs_what_setup_names():
    (task,) = yaml.safe_load((BCR / "presubmit.yml").read_text())["bcr_test_module"]["tasks"].values()
    installed = set(task["shell_commands"][-1].split()[4:])
    named = set(re.findall(r"`([\w.+-]+)`", (ROOT / "setup.md").read_text()))
    assert installed and installed <= named


def test_modules_that_depend_on_this_one_get_no_toolchain_and_no_test_library():
    registered = of(ROOT / "MODULE.bazel", "register_toolchains")
    assert registered and all(arguments.get("dev_dependency") for arguments in registered)
    dependencies = {a["name"]: a.get("dev_dependency", False) for a in of(ROOT / "MODULE.bazel", "bazel_dep")}
    assert dependencies["googletest"] and not dependencies["rules_cc"]


def test_templates_have_what_the_registry_requires():
    metadata = json.loads((BCR / "metadata.template.json").read_text())
    # As in metadata.schema.json of the registry.
    assert {"homepage", "maintainers", "repository", "versions"} <= set(metadata)
    assert set(metadata) <= {"homepage", "maintainers", "repository", "versions", "yanked_versions", "deprecated"}
    assert metadata["versions"] == [], "publish-to-bcr adds them"
    source = json.loads((BCR / "source.template.json").read_text())
    assert set(source) == {"integrity", "strip_prefix", "url"} and source["integrity"] == ""
    assert set(re.findall(r"{(\w+)}", " ".join(source.values()))) <= {"OWNER", "REPO", "TAG", "VERSION"}
