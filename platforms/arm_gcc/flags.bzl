"""The flags of arm-none-eabi-gcc that are the same for every core, for Bazel's toolchain and for CMake's."""

FLAGS = struct(
    # To compile C and C++, and to assemble.
    common = [
        "-Wall",
        "-Wextra",
        "-ffunction-sections",
        "-fdata-sections",
        "-fno-common",
        "-g",
        # a * b + c must give the same bits as on the host and in the reference: no fused
        # multiply-add unless the source asks for it.
        "-ffp-contract=off",
        # No unwind tables: nothing unwinds, and they take flash.
        "-fno-unwind-tables",
        "-fno-asynchronous-unwind-tables",
    ],
    # Bazel only: the same bytes wherever the tree lies. It sets PWD=/proc/self/cwd for compilers.
    reproducible = [
        "-ffile-prefix-map=/proc/self/cwd=.",
        "-no-canonical-prefixes",
        "-fno-canonical-system-headers",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\"redacted\"",
        "-D__TIME__=\"redacted\"",
        "-D__TIMESTAMP__=\"redacted\"",
    ],
    c = ["-std=c11"],
    # CMake has a property of its own for the standard of C++.
    cxx_standard = ["-std=c++17"],
    cxx = [
        "-fno-exceptions",
        "-fno-rtti",
        "-fno-threadsafe-statics",
        "-fno-use-cxa-atexit",
    ],
    link = [
        "-nostartfiles",
        "--specs=nano.specs",
        "-Wl,--gc-sections",
        "-Wl,--fatal-warnings",
        "-Wl,--build-id=none",
    ],
)
