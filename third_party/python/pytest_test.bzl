"""`pytest_test`: a py_test that runs its sources with pytest."""

load("@rules_python//python:defs.bzl", "py_test")

_MAIN = str(Label("//third_party/python:pytest_main.py"))
_PACKAGES = str(Label("//third_party/python:packages"))

def pytest_test(name, srcs, deps = [], args = [], env = {}, size = "small", **kwargs):
    """Runs the tests in `srcs` in the environment of the locked packages.

    Args:
      name: name of the target.
      srcs: the files with tests; put helpers into a py_library in `deps`.
      deps: libraries under test.
      args: further arguments of pytest.
      env: further environment variables. CND_TEST_SIMULATOR = "every" in a test with the tag "simulator" runs images
        in all simulators that are installed, and compares the results.
      size: "medium" for a test that imports torch: that alone can take 20 s.
      **kwargs: passed on to py_test (data, imports, shard_count, tags, ...).
    """

    # torch and scikit-learn size their thread pools by the machine; Bazel runs tests in parallel.
    environment = {
        "OMP_NUM_THREADS": "1",
    }
    if "simulator" in kwargs.get("tags", []):
        # What runs images if the user has not chosen (sim/README.md). Renode takes seconds to start.
        environment["CND_TEST_SIMULATOR"] = "fast"
    environment.update(env)
    py_test(
        name = name,
        size = size,
        srcs = srcs + [_MAIN],
        args = ["$(rootpath %s)" % src for src in srcs] + args,
        env = environment,
        main = _MAIN,
        deps = deps + [_PACKAGES],
        **kwargs
    )
