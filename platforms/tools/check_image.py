"""Refuses a firmware image that contains the heap, C++ exception handling or system calls, and completes the others.

    python3 -m platforms.tools.check_image --label L --nm NM --readelf READELF --map MAP --elf IN --output OUT

Checks the linked image, so it sees what is really in it, whatever the reason: a call in the code, a
virtual destructor, a function of the C library. Copies IN to OUT if it finds nothing; otherwise prints each
finding and the object files that refer to it, according to the map's cross reference, and exits with 1.

In an image for an RP2040, it writes the checksum of the first 256 bytes, without which the chip does not start them.
Standard library only.
"""

import argparse
import dataclasses
import re
import shutil
import struct
import subprocess
import sys

# The C allocator with newlib's reentrant variants, and the functions that give it memory.
_HEAP_C = re.compile(
    r"(_(malloc|calloc|realloc|free|memalign|sbrk)_r|_?sbrk|malloc|calloc|realloc|reallocarray|free|cfree"
    r"|memalign|posix_memalign|aligned_alloc|valloc|pvalloc)"
)
# operator new and new[], every signature except placement new, which allocates nothing.
_HEAP_CXX = re.compile(r"_Zn[wa][jm](?!Pv$)\w*")
_EXCEPTIONS = re.compile(
    r"__gxx_personality_\w+|__aeabi_unwind_cpp_pr[012]|_Unwind_\w+|___?Unwind_\w+"
    r"|__cxa_(throw|rethrow|allocate_exception|begin_catch|end_catch|free_exception)|_ZSt9terminatev"
)
# The system calls that newlib would make. The linker script gives them the absolute value 0.
_SYSTEM = re.compile(r"_(close|exit|fini|fstat|getpid|isatty|kill|lseek|read|write)")
_EXCEPTION_SECTIONS = re.compile(r"\.(gcc_except_table|ARM\.extab|eh_frame)(\.\S*)?")

_HEADINGS = {
    "heap": "the heap (memory comes from the caller here, never from malloc or new):",
    "exceptions": "C++ exception handling (compile with -fno-exceptions -fno-unwind-tables):",
    "system": "system calls (often from abort() or printf() of the C library):",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that must not be in an image."""

    kind: str  # of _HEADINGS
    name: str  # symbol, as in the source, or section
    users: tuple = ()  # object files that refer to it

    def __str__(self):
        return self.name + (f"\n      used by {', '.join(self.users)}" if self.users else "")


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A defined symbol of an image."""

    name: str  # mangled
    letter: str  # its type, as nm has it; "A" is absolute
    source_name: str  # demangled


def symbols_of(nm_output, demangled_nm_output):
    """Returns the defined symbols from two outputs of `nm --format=posix --no-sort`, the second with --demangle."""
    symbols = []
    for line, demangled in zip(nm_output.splitlines(), demangled_nm_output.splitlines()):
        name, letter, *_ = line.split()
        if letter not in "Uwv":
            symbols.append(Symbol(name, letter, re.sub(r" \S( [0-9a-f]+)*\s*$", "", demangled)))
    return symbols


def sections_of(readelf_output):
    """Returns (name, size) of each section in the output of `readelf --sections --wide`."""
    row = re.compile(r"\s*\[\s*\d+\]\s+(\S+)\s+[A-Z_]\S*\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s")
    found = (row.match(line) for line in readelf_output.splitlines())
    return [(match.group(1), int(match.group(2), 16)) for match in found if match]


def cross_reference(map_text):
    """Returns symbol -> [defining file, using files...] from the table that `ld --cref` appends to a map."""
    _, _, table = map_text.partition("\nCross Reference Table\n")
    references = {}
    symbol = None
    for line in table.splitlines():
        if re.match(r"Symbol\s+File\s*$", line) or not line.strip():
            continue
        if line[0].isspace():
            if symbol:
                references[symbol].append(line.strip())
            continue
        # Demangled names may contain spaces; file names of a build do not.
        symbol, file = line.rsplit(None, 1)
        references[symbol] = [file]
    return references


def short_name(path):
    """Returns a file name of the map without the parts that differ between machines and configurations."""
    path = re.sub(r"^.*?bazel-out/[^/]+/bin/", "", path)
    archive = re.fullmatch(r"(.*?)([^/]*\.a)\((.*)\)", path)
    if archive:
        directory, name, member = archive.groups()
        return f"{'' if directory.startswith('/') else directory}{name}({member})"
    return path


def find(symbols, sections, references):
    """Returns all findings, by kind. `symbols`, `sections`, `references` come from the functions above."""

    def kind(symbol):
        if _HEAP_C.fullmatch(symbol.name) or _HEAP_CXX.fullmatch(symbol.name):
            return "heap"
        if _EXCEPTIONS.fullmatch(symbol.name):
            return "exceptions"
        if symbol.letter == "A" and _SYSTEM.fullmatch(symbol.name):
            return "system"
        return None

    findings = []
    for symbol in symbols:
        if kind(symbol):
            users = tuple(short_name(path) for path in references.get(symbol.source_name, [])[1:])
            findings.append(Finding(kind(symbol), symbol.source_name, users))
    findings += [
        Finding("exceptions", f"section {name}, {size} bytes")
        for name, size in sections
        if size and _EXCEPTION_SECTIONS.fullmatch(name)
    ]
    return sorted(set(findings), key=lambda finding: (list(_HEADINGS).index(finding.kind), finding.name))


def report(label, findings):
    """Returns the message for a refused image."""
    lines = [f"{label}: this image must not be built, it contains"]
    for kind, heading in _HEADINGS.items():
        entries = [finding for finding in findings if finding.kind == kind]
        if entries:
            lines.append(f"  {heading}")
            lines += [f"    {entry}" for entry in entries]
    return "\n".join(lines)


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def boot2_offset(nm_output, readelf_output):
    """Returns where in the ELF file the 256 bytes are that an RP2040 starts first; None if the image has none.

    The arguments are the outputs of `nm --format=posix` and `readelf --sections --wide`.
    """
    fields = [line.split() for line in nm_output.splitlines()]
    symbols = {name: int(value, 16) for name, _, value, *_ in (row for row in fields if len(row) > 2)}
    start = symbols.get("__boot2_start")
    if start is None or start == symbols["__boot2_end"]:
        return None
    text = re.search(r" \.text\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s", readelf_output)
    return int(text.group(2), 16) + start - int(text.group(1), 16)


def boot2_checksum(data):
    """Returns what the ROM of an RP2040 compares with the last 4 of the 256 bytes, given the others: their CRC-32 with
    the polynomial 0x04c11db7, the top bit of each byte first, from all ones, unchanged at the end."""
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte << 24
        for _ in range(8):
            remainder = remainder << 1 ^ (0x104C11DB7 if remainder >> 31 else 0)
    return remainder


def complete(elf, nm, readelf):
    """Writes the checksum into the image `elf`, if it is for an RP2040."""
    offset = boot2_offset(output_of(nm, "--format=posix", elf), output_of(readelf, "--sections", "--wide", elf))
    if offset is None:
        return
    with open(elf, "r+b") as file:
        file.seek(offset)
        checksum = struct.pack("<I", boot2_checksum(file.read(252)))
        file.seek(offset + 252)
        file.write(checksum)


def inspect(elf, map_path, nm, readelf):
    """Returns the findings in the image `elf` with the map `map_path`; `nm` and `readelf` are tool paths."""
    with open(map_path, encoding="utf-8", errors="replace") as lines:
        references = cross_reference(lines.read())
    list_symbols = (nm, "--format=posix", "--no-sort", elf)
    return find(
        symbols_of(output_of(*list_symbols), output_of(*list_symbols, "--demangle")),
        sections_of(output_of(readelf, "--sections", "--wide", elf)),
        references,
    )


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("label", "nm", "readelf", "map", "elf", "output"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--unchecked", action="store_true", help="copy the image whatever it contains")
    args = parser.parse_args(argv)
    if not args.unchecked:
        findings = inspect(args.elf, args.map, args.nm, args.readelf)
        if findings:
            print(report(args.label, findings), file=sys.stderr)
            return 1
    shutil.copyfile(args.elf, args.output)
    complete(args.output, args.nm, args.readelf)
    shutil.copymode(args.elf, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
