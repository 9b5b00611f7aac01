"""Builds and runs examples/bazel_firmware, a workspace with this repository as an external one."""

import re

import pytest

from tests.external.inner_bazel import InnerBazel, absent, copy_of_example


@pytest.mark.skipif(bool(absent()), reason=absent() or "present")
def test_a_firmware_with_this_repository_as_an_external_one_runs(tmp_path):
    # One core: board_test builds for another.
    test = "//:cortex_m55_test"
    with InnerBazel(copy_of_example(tmp_path / "firmware"), tmp_path) as bazel:
        code, output = bazel.run("test", "--test_output=all", test)
    assert code == 0, output
    assert output.count("PASS: within 0.1 of the sine") == 1
    assert re.search(rf"{test} +PASSED", output)
