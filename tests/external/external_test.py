"""Builds and runs examples/bazel_firmware, a workspace with this repository as an external one."""

import re

import pytest

from tests.external.inner_bazel import InnerBazel, absent, copy_of_example


@pytest.mark.skipif(bool(absent()), reason=absent() or "present")
def test_a_firmware_with_this_repository_as_an_external_one_runs(tmp_path):
    tests = [f"//:{core}_test" for core in ("cortex_m4", "cortex_m55")]
    with InnerBazel(copy_of_example(tmp_path / "firmware"), tmp_path) as bazel:
        code, output = bazel.run("test", "--test_output=all", *tests)
    assert code == 0, output
    assert output.count("PASS: within 0.1 of the sine") == len(tests)
    for test in tests:
        assert re.search(rf"{test} +PASSED", output)
