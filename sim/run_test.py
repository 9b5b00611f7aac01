"""The program of a `simulator_test`: runs an image, prints its UART output, checks how it ended.

Usage:

    python3 -m sim.run_test ELF [--simulator NAME] [--exit-code N] [--expect TEXT]... [--timeout SECONDS]
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings

from sim import simulator
from sim.auto import SimulatorChoice
from sim.elf import ElfError


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elf")
    parser.add_argument("--simulator", choices=simulator.DRIVERS, help="where the user has chosen none")
    parser.add_argument("--exit-code", type=int, default=0)
    parser.add_argument("--expect", action="append", default=[], help="text that the UART output must contain")
    parser.add_argument("--timeout", type=float, default=simulator.DEFAULT_TIMEOUT_S, help="wall-clock seconds")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", SimulatorChoice)  # Printed below.
    if args.simulator:
        os.environ["CND_TEST_SIMULATOR"] = args.simulator
    try:
        result = simulator.run(args.elf, timeout_s=args.timeout, count=False)
    except (ElfError, simulator.SimulatorError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(result.uart)
    print(f"{result.simulator}, status {result.status}")
    if result.simulator_note:
        print(result.simulator_note)
    problems = [f"the output lacks {text!r}" for text in args.expect if text not in result.uart]
    if result.exit_code != args.exit_code:
        problems.append(f"expected exit code {args.exit_code}; {result.explain()}")
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
