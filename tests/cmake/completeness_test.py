"""The CMake build has every source of the delegate: its lists come from the targets that cmake/BUILD names."""

import re

from tests.cmake.building import ROOT, delegate_sources

# The choice of --define kernels=..., for the runner's images, which only Bazel builds.
_BAZEL_ONLY = {
    "selected.h",
    "selected_cmsis_nn.cc",
    "selected_portable.cc",
    "selected_tuned.cc",
    "selected_tuned_and_cmsis_nn.cc",
}


def _listed() -> set[str]:
    text = (ROOT / "cmake/targets.cmake").read_text(encoding="utf-8")
    return set(re.findall(r"^    (?:\$\{CMSIS_NN_DELEGATE_GENERATED\}/)?(runtime/\S+)$", text, re.MULTILINE))


def test_every_source_is_in_a_target():
    sources = {str(path.relative_to(ROOT)) for path in delegate_sources() if path.name not in _BAZEL_ONLY}
    assert len(sources) > 50
    assert sources - _listed() == set()
