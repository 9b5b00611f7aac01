"""What firmware images may contain besides the firmware's own code, with licences.

The size report of an image names those that it contains, and //tools/sbom makes a bill of materials of them.

    name      as people know it
    license   SPDX expression
    version   commit or version
    source    where that version is from (an SPDX download location)
    parts     regular expressions: the component is linked if one of them matches a whole part of the size report,
              a package or "toolchain LIBRARY". In other workspaces the names of our packages begin with our repository
    headers   repositories whose headers are the component's: code from them is compiled into other parts
"""

load("//third_party:pins.bzl", "PINS")

def _pinned(pin, **kwargs):
    return dict(
        source = "git+%s@%s" % (PINS[pin]["remote"], PINS[pin]["commit"]),
        version = PINS[pin]["commit"],
        **kwargs
    )

def components(compiler_version):
    """Returns the components, most specific first: the first one that matches a part has it.

    Args:
      compiler_version: of arm-none-eabi-gcc.
    """
    gcc = "arm-none-eabi-gcc " + compiler_version
    return [
        _pinned(
            "cmsis_nn",
            name = "CMSIS-NN",
            license = "Apache-2.0",
            parts = ["OWN/third_party/cmsis_nn"],
            headers = ["cmsis_nn"],
        ),
        _pinned(
            "executorch",
            name = "ExecuTorch",
            license = "BSD-3-Clause",
            parts = ["external/[^/]*\\bexecutorch(/.*)?"],
            headers = ["executorch", "executorch_wheel"],
        ),
        _pinned(
            "flatbuffers",
            name = "FlatBuffers",
            license = "Apache-2.0",
            parts = ["external/[^/]*\\bflatbuffers(/.*)?"],
            headers = ["flatbuffers"],
        ),
        {
            "headers": [],
            "license": "GPL-3.0-or-later WITH GCC-exception-3.1",
            "name": "GCC runtime libraries",
            "parts": ["toolchain lib(gcc|stdc\\+\\+|supc\\+\\+).*\\.a", "toolchain"],
            "source": "NOASSERTION",
            "version": "of " + gcc,
        },
        {
            # Dozens of permissive licences, in its file COPYING.NEWLIB.
            "headers": [],
            "license": "LicenseRef-newlib",
            "name": "newlib",
            "parts": ["toolchain lib(c|g|m|nosys)(_nano)?\\.a"],
            "source": "NOASSERTION",
            "version": "of " + gcc,
        },
        {
            "headers": [],
            "license": "BSD-3-Clause",
            "name": "cmsis_nn_delegate",
            "parts": ["OWN/.*"],
            "source": "NOASSERTION",
            "version": "0.1.0",
        },
    ]
