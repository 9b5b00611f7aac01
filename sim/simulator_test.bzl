"""`simulator_test`: runs a firmware image in the simulator and checks how it ends.

    simulator_test(
        name = "cortex_m55_test",
        size = "small",
        firmware = ":cortex_m55",
    )

It needs only Python's standard library. For a test that checks more than the exit code and the output, write a
pytest_test with //sim:simulator in its deps and the firmware in its data.
"""

load("//third_party/python:stdlib_py_binary.bzl", "stdlib_py_test")

def simulator_test(
        name,
        firmware,
        exit_code = 0,
        expect = [],
        simulator = "fast",
        args = [],
        data = [],
        tags = [],
        **kwargs):
    """Declares the test.

    Args:
      name: name of the target.
      firmware: a `firmware` target.
      exit_code: exit code that the firmware must end with.
      expect: texts that it must write to the UART.
      simulator: what runs it if `--define simulator=...` does not say: see sim/README.md.
      args: further arguments of sim/run_test.py.
      data: further files.
      tags: further tags.
      **kwargs: size, timeout, visibility, ...
    """
    checks = ["--exit-code=%d" % exit_code, "--simulator=" + simulator]
    checks += ["--expect='%s'" % text for text in expect]
    stdlib_py_test(
        name = name,
        srcs = [str(Label("//sim:simulator_srcs"))],
        args = ["$(rootpaths %s)" % firmware] + checks + args,
        data = data + [firmware, str(Label("//sim:simulator_data"))],
        module = "sim.run_test",
        tags = tags + ["simulator"],
        **kwargs
    )
