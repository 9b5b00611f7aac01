"""Finds a clang that can build fuzzers: $FUZZER_CLANG, else the newest of clang-20 to clang-14 and clang on PATH.

    FUZZER_CLANG   the clang to use: the name of a program on PATH, or a path

Writes @clang//:info.bzl with CLANG, a struct:
  available   whether it found one that links libFuzzer with the address and undefined sanitizers
  c, cc       paths of the compilers for C and C++
  version     the version that the compiler prints
  reason      if not available: one line that says why, and what to do

A missing clang does not fail here: tests that need it say why they are skipped.
"""

_NAMES = ["clang-%d" % version for version in range(20, 13, -1)] + ["clang"]

_ADVICE = "install clang with libFuzzer (Debian: clang and libclang-rt-dev, or clang-14), or name one with FUZZER_CLANG"

_PROBE = """#include <stddef.h>
#include <stdint.h>
#include <vector>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t size) { return std::vector<int>(1, 0)[size * 0]; }
"""

def _candidates(rctx):
    """Returns (name, path) of the compilers to try, in order."""
    named = rctx.os.environ.get("FUZZER_CLANG", "").strip()
    if not named:
        found = [(name, rctx.which(name)) for name in _NAMES]
        return [(name, path) for name, path in found if path]
    if "/" not in named:
        return [(named, rctx.which(named))]
    if not named.startswith("/"):
        return [(named, None)]
    path = rctx.path(named)
    return [(named, path if path.exists else None)]

def _compilers(path):
    """Returns the C and the C++ compiler of a clang or clang++ with or without a version: clang-14, clang++-14."""
    name = path.basename
    c = name.replace("clang++", "clang")
    return ["%s/%s" % (path.dirname, n) for n in [c, c.replace("clang", "clang++")]]

def _problem(rctx, cc):
    """Returns why `cc` cannot build a fuzzer; an empty string if it can."""
    result = rctx.execute([cc, "-fsanitize=fuzzer,address,undefined", "probe.cc", "-o", "probe"], timeout = 120)
    if result.return_code:
        return "it does not link libFuzzer with sanitizers: " + (result.stderr.strip().split("\n") or [""])[-1]
    return ""

def _impl(rctx):
    rctx.file("probe.cc", _PROBE)
    reason = "there is no clang on PATH"
    used = struct(c = "", cc = "", version = "")
    for name, path in _candidates(rctx):
        if not path:
            reason = "FUZZER_CLANG=%s: there is no such program (a path must be absolute)" % name
            continue
        c, cc = _compilers(path)
        reason = _problem(rctx, cc)
        if not reason:
            version = rctx.execute([cc, "--version"]).stdout.split("\n")[0]
            used = struct(c = c, cc = cc, version = version)
            break
        reason = "%s: %s" % (path, reason)
    if reason:
        reason += "; " + _ADVICE
    rctx.file("info.bzl", "CLANG = struct(\n    available = %r,\n    c = %r,\n    cc = %r,\n    reason = %r,\n    version = %r,\n)\n" %
                          (not reason, used.c, used.cc, reason, used.version))
    rctx.file("BUILD.bazel", "")
    rctx.file("WORKSPACE", "")

clang = repository_rule(
    implementation = _impl,
    environ = ["FUZZER_CLANG", "PATH"],
    configure = True,
    local = True,
)
