"""The flags of arm-none-eabi-gcc that are the same for every core, for Bazel's and CMake's toolchains."""

FLAGS = struct(
    # For compiling C and C++, and for assembling.
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
        # No unwind tables: they take flash, and no code unwinds the stack.
        "-fno-unwind-tables",
        "-fno-asynchronous-unwind-tables",
    ],
    # Bazel only: outputs do not depend on the path of the source tree. Bazel sets PWD=/proc/self/cwd for compilers.
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
    # CMake sets the C++ standard with a separate property.
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
