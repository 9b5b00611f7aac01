"""sh_binary for Bazel < 7 in WORKSPACE mode: the rule is native there."""

sh_binary = native.sh_binary
