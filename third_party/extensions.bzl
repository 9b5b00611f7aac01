"""The repositories of repositories.bzl as a module extension (Bazel 7 and later).

WORKSPACE must never load this file: Bazel 4 has no module_extension().
"""

load("//third_party:repositories.bzl", "source_repositories")

def _impl(_module_ctx):
    source_repositories()

externals = module_extension(implementation = _impl)
