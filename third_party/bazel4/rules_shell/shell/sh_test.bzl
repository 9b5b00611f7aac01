"""sh_test for Bazel < 7 in WORKSPACE mode: the rule is native there."""

sh_test = native.sh_test
