"""Builds and runs examples/bazel_firmware, a workspace with this repository as an external one."""

import re

import pytest

from tests.cmake.building import list_kernels
from tests.external.inner_bazel import InnerBazel, absent, copy_of_example, toolchain_for_one_model


@pytest.mark.skipif(bool(absent()), reason=absent() or "present")
def test_a_firmware_with_this_repository_as_an_external_one_runs(tmp_path):
    # One core: board_test builds for another.
    test = "//:cortex_m55_test"
    workspace = copy_of_example(tmp_path / "firmware")
    with InnerBazel(workspace, tmp_path, toolchain_for_one_model(tmp_path)) as bazel:
        code, output = bazel.run("build", "//:sine_mve")
        assert code == 0, output
        list_kernels((workspace / "bazel-bin/mve/sine.payload.bin").read_bytes(), tmp_path)
        code, output = bazel.run("test", "--test_output=all", test)
    assert code == 0, output
    assert output.count("PASS: within 0.1 of the sine") == 1
    assert re.search(rf"{test} +PASSED", output)
