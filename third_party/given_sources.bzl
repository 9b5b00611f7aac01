"""`given_sources`: which of the sources in pins.bzl the environment names. It fetches none.

    load("@given_sources//:info.bzl", "GIVEN")

    GIVEN["executorch"]     the folder that EXECUTORCH_DIR names, or ""

Tests that start other builds, or that read these sources as files, take them from here:

    load("//third_party:given_sources.bzl", "environment_of")
"""

load("//third_party:pins.bzl", "PINS")

def _impl(rctx):
    given = {name: rctx.os.environ.get(pin["env"], "") for name, pin in PINS.items()}
    rctx.file("info.bzl", "# Made by given_sources.bzl.\nGIVEN = %r\n" % given)
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

given_sources = repository_rule(
    implementation = _impl,
    environ = [pin["env"] for pin in PINS.values()],
)

def environment_of(names, given):
    """Returns the variables that name these sources, for `env` of a test: those that are set.

    Args:
      names: of pins.
      given: GIVEN.
    """
    return {PINS[name]["env"]: given[name] for name in names if given[name]}
