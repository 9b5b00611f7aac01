"""Runs a fuzzer of payloads, starting from the compiled seeds.

    ./bazelw run //tests/fuzz:portable                      until a finding or Ctrl-C
    ./bazelw run //tests/fuzz:portable -- -runs=5000000     options of libFuzzer are passed on
    ./bazelw run //tests/fuzz:portable -- FILE              only that payload: does it still fail?

The corpus is kept in out/fuzz/<kernels>/corpus and used again; findings are written to out/fuzz/<kernels>.
Standard library only.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

MAGIC = b"CNND"
PAYLOAD_BYTES_OFFSET = 12  # of the header's field
MAX_BYTES = 1 << 15  # kMaxPayloadBytes of mutate.h


def seeds(blob: bytes) -> Iterator[bytes]:
    """Yields the payloads in a file of make_seeds.py. Raises ValueError if they have another format."""
    at = 0
    while at < len(blob):
        if blob[at : at + len(MAGIC)] != MAGIC:
            raise ValueError(f"no payload begins at {at}: the format has changed, and PAYLOAD_BYTES_OFFSET with it")
        (size,) = struct.unpack_from("<I", blob, at + PAYLOAD_BYTES_OFFSET)
        yield blob[at : at + size]
        at += size


def write_seeds(pack: Path, folder: Path) -> int:
    """Writes each seed to a separate file; returns their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for count, seed in enumerate(seeds(pack.read_bytes()), start=1):
        (folder / f"{count:04}").write_bytes(seed)
    return count


def command(fuzzer: Path, folder: Path, pack: Path, options: Sequence[str]) -> list[str]:
    """Returns libFuzzer's command line, with `folder` for its output."""
    files = [option for option in options if not option.startswith("-")]
    start = [str(fuzzer), f"-artifact_prefix={folder}/", "-timeout=20", *options]
    if files:
        return start
    write_seeds(pack, folder / "seeds")
    (folder / "corpus").mkdir(exist_ok=True)
    return [*start, f"-max_len={MAX_BYTES}", "-print_final_stats=1", str(folder / "corpus"), str(folder / "seeds")]


def environment() -> dict[str, str]:
    return {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "detect_leaks=0"}


def main(argv: Sequence[str]) -> int:
    if len(argv) < 4 or argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(argv) > 1 else 2
    kernels, fuzzer, pack, *options = argv[1:]
    folder = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")) / "out" / "fuzz" / kernels
    folder.mkdir(parents=True, exist_ok=True)
    # File names are relative to the folder in which Bazel was called.
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    options = [option if option.startswith("-") else str(here / option) for option in options]
    print(f"writing to {folder}", flush=True)
    return subprocess.run(
        command(Path(fuzzer).resolve(), folder, Path(pack).resolve(), options), env=environment(), check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
