"""Finds MVE code that the compiler miscompiles.

GCC 12.2 loses the value of a constant predicate of 32-bit lanes:

    vshrq_m_n_s32(a, a, 24, 0x0F0F)   // parts of lanes 0 and 2

becomes an instruction on all lanes (from -O1 on), and so does one of 16-bit lanes; one of 8-bit lanes keeps
it. CMSIS-NN's depthwise int4 kernels have such predicates, its int8 kernels do not: their predicates come from
vctp and comparisons. This program compiles such an intrinsic. If the constant is missing from the assembly, it
refuses sources with such predicates.

    mve_predicates.py --output HEADER [--compiler GCC --flag=FLAG...] SOURCE...

Without a compiler (for cores without MVE) there is nothing to check. Standard library only.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys

PREDICATE = 0x0F0F
PROBE = f"""#include <arm_mve.h>
int32x4_t probe(int32x4_t a) {{ return vshrq_m_n_s32(a, a, 24, {PREDICATE}); }}
"""

_NUMBER = r"\(?\s*(?:\(mve_pred16_t\)\s*)?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uU]?\s*\)?"
_VARIABLE = re.compile(rf"\bmve_pred16_t\s+(\w+)\s*=\s*{_NUMBER}\s*;")
# Merging (_m), zeroing (_z), don't-care (_x) and predicated (_p) intrinsics; the predicate comes last.
_ARGUMENT = re.compile(rf"\bv\w+_[mzxp](?:_\w+)?\s*\([^;]*,\s*{_NUMBER}\s*\)\s*;")
# Of lanes of 8 bits.
_BYTES = re.compile(r"^(?:[^=;]*=)?\s*v\w+_[mzxp](?:_\w+)?_[su]8\s*\(")


def forgets_constants(compiler: str, flags: list[str]) -> bool:
    """Returns whether the compiler drops the constant of the probe."""
    command = [compiler, *flags, "-mthumb", "-O2", "-S", "-xc", "-", "-o", "-"]
    result = subprocess.run(command, input=PROBE, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{compiler} does not compile the MVE probe:\n{result.stderr}")
    return re.search(rf"#{PREDICATE}\b|#0x0*{PREDICATE:x}\b", result.stdout, re.IGNORECASE) is None


def constant_predicates(text: str) -> list[int]:
    """Returns the lines of C source `text` with a constant MVE predicate."""
    without_comments = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    variables = [found for found in _VARIABLE.finditer(without_comments) if not _for_bytes(without_comments, found[1])]
    arguments = [found for found in _ARGUMENT.finditer(without_comments) if not _BYTES.match(found[0])]
    return sorted({without_comments.count("\n", 0, match.start()) + 1 for match in (*variables, *arguments)})


def _for_bytes(text: str, variable: str) -> bool:
    """Returns whether all statements that read `variable` are intrinsics of 8-bit lanes."""
    statements = [
        statement.strip() for statement in re.split(r"[;{}]", text) if re.search(rf"\b{variable}\b", statement)
    ]
    readers = [statement for statement in statements if "mve_pred16_t" not in statement]
    return bool(readers) and all(_BYTES.match(statement) for statement in readers)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", help="without one there is nothing to check")
    parser.add_argument("--flag", action="append", default=[], help="of the compiler")
    parser.add_argument("sources", nargs="*", type=pathlib.Path)
    args = parser.parse_args(argv)

    finding = "The core has no MVE."
    if args.compiler:
        finding = "The compiler keeps constant MVE predicates."
        if forgets_constants(args.compiler, args.flag):
            affected = [
                f"{source}:{line}"
                for source in args.sources
                for line in constant_predicates(source.read_text(encoding="utf-8"))
            ]
            if affected:
                print(
                    f"error: {args.compiler} turns constant MVE predicates into all-true (a bug of GCC 12.2), "
                    f"which breaks:\n  " + "\n  ".join(affected) + "\n"
                    "Use a newer compiler (ARM_GNU_TOOLCHAIN), or leave these sources out.",
                    file=sys.stderr,
                )
                return 1
            finding = "The compiler loses constant MVE predicates, but no source has one."
    args.output.write_text(f"// {finding}\n#pragma once\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
