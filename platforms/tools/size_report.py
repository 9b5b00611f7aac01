"""Reports what uses the flash and the RAM of a firmware image, from the linker's map.

    python3 -m platforms.tools.size_report --title T --map MAP --text OUT.size --json OUT.size.json \
        [--components JSON] [--own external/NAME] [--headers-of REPOSITORY]...

Flash is listed by part: the package that an object file was compiled in, or a library of the
toolchain. RAM is listed by section, with the stack and the rest for the arena. All figures are in bytes.
Given the components that images may contain (third_party/components.bzl), it lists those of this image with their
licences. Standard library only.
"""

import argparse
import collections
import dataclasses
import json
import re
import sys

from platforms.tools import components

# The contents of the output sections in platforms/image.ld.in. Initial values of .data are in flash as well.
_FLASH_KINDS = {".text": "code", ".rodata": "constants", ".init_array": "constants", ".data": "initial"}
_RAM_SECTIONS = (".data", ".bss")
_MEMORY = ".memory."  # and the name of a memory that the board has besides
_PADDING = ("(padding)", "")


@dataclasses.dataclass(frozen=True)
class Contribution:
    """Bytes that one object file contributes to one output section."""

    section: str
    address: int
    part: str
    object: str
    bytes: int


@dataclasses.dataclass
class Image:
    """The contents of a map."""

    memories: dict  # name -> (origin, bytes)
    symbols: dict  # of the linker script: name -> value
    contributions: list


def part_and_object(path):
    """Returns package and object file of a path in a map.

    "bazel-out/x/bin/runtime/kernels/_objs/add/add.o"      -> ("runtime/kernels", "add.o")
    "bazel-out/x/bin/runtime/kernels/libadd.a(add.o)"      -> ("runtime/kernels", "add.o")
    "/usr/lib/.../libc_nano.a(libc_a-memset.o)"            -> ("toolchain libc_nano.a", "libc_a-memset.o")
    "external/arm_gcc/toolchain/.../libm.a(sf_fma.o)"      -> ("toolchain libm.a", "sf_fma.o")
    """
    path = re.sub(r"^.*?bazel-out/[^/]+/bin/", "", path)
    of_toolchain = path.startswith("/") or re.match(r"external/[^/]*\barm_gcc/toolchain/", path)
    archive = re.fullmatch(r"(?:(.*)/)?([^/]*\.a)\((.*)\)", path)
    if archive:
        directory, name, member = archive.groups()
        if of_toolchain:
            return f"toolchain {name}", member
        return directory or ".", member
    directory, _, name = path.rpartition("/")
    if of_toolchain:
        return "toolchain", name
    return re.sub(r"/?_objs/.*", "", directory) or ".", name


def parse(text):
    """Returns the Image that the map `text` describes."""
    _, found, rest = text.partition("\nMemory Configuration\n")
    if not found:
        raise ValueError("not a linker map: it has no memory configuration")
    memory_text, _, rest = rest.partition("\nLinker script and memory map\n")
    body, _, _ = rest.partition("\nCross Reference Table\n")
    memories = {}
    for match in re.finditer(r"^(\w+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)", memory_text, re.MULTILINE):
        memories[match.group(1)] = (int(match.group(2), 16), int(match.group(3), 16))
    # ld breaks the line after a name that is too long for its column.
    body = re.sub(r"^( ?\.\S+)\n\s+(0x[0-9a-f]+\s+0x)", r"\1 \2", body, flags=re.MULTILINE)
    symbols = {}
    contributions = []
    section = ""
    for line in body.splitlines():
        if match := re.match(r"(\.\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)", line):
            section, address, size = match.group(1), int(match.group(2), 16), int(match.group(3), 16)
            # Marks the end of the section until the gaps are filled.
            contributions.append(Contribution(section, address + size, *_PADDING, 0))
            contributions.append(Contribution(section, address, *_PADDING, 0))
        elif line and not line[0].isspace():
            section = ""  # Not a section of the image: /DISCARD/, LOAD, OUTPUT, ...
        elif match := re.match(r" (\.\S+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$", line):
            address, size = int(match.group(2), 16), int(match.group(3), 16)
            if size and section:
                contributions.append(Contribution(section, address, *part_and_object(match.group(4)), size))
        elif match := re.match(r"\s+0x([0-9a-f]+)\s+(__\w+) = ", line):
            symbols[match.group(2)] = int(match.group(1), 16)
    return Image(memories, symbols, _without_gaps(contributions))


def _without_gaps(contributions):
    """Returns the same pieces with gaps filled by padding and overlaps cut off.

    ld prints a string that several files share with each of them, at its size before merging.
    """
    result = []
    ordered = sorted(contributions, key=lambda item: (item.section, item.address, item.bytes))
    for item, following in zip(ordered, ordered[1:]):
        if item.section != following.section:
            continue
        space = following.address - item.address
        if item.bytes:
            result.append(dataclasses.replace(item, bytes=min(item.bytes, space)))
        if space > item.bytes:
            result.append(Contribution(item.section, item.address + item.bytes, *_PADDING, space - item.bytes))
    return [item for item in result if item.bytes]


def summarize(image):
    """Returns the report's figures as plain data, for JSON."""
    parts = collections.defaultdict(lambda: {"code": 0, "constants": 0, "initial": 0, "total": 0, "objects": {}})
    ram = collections.defaultdict(int)
    ram_parts = collections.defaultdict(int)
    others = collections.defaultdict(int)
    for item in image.contributions:
        kind = _FLASH_KINDS.get(item.section)
        if kind:
            part = parts[item.part]
            part[kind] += item.bytes
            part["total"] += item.bytes
            part["objects"][item.object] = part["objects"].get(item.object, 0) + item.bytes
        if item.section in _RAM_SECTIONS:
            ram[item.section] += item.bytes
            ram_parts[item.part] += item.bytes
        if item.section.startswith(_MEMORY):
            others[item.section.removeprefix(_MEMORY)] += item.bytes
    stack = image.symbols["__stack_top"] - image.symbols["__stack_bottom"]
    arena = image.symbols["__arena_end"] - image.symbols["__arena_start"]
    capacity = image.memories["RAM"][1]
    used = capacity - arena
    sections = {name: ram.get(name, 0) for name in _RAM_SECTIONS}
    return {
        "flash": {
            "total": sum(part["total"] for part in parts.values()),
            "capacity": image.memories["FLASH"][1],
            "parts": dict(sorted(parts.items(), key=lambda entry: (-entry[1]["total"], entry[0]))),
        },
        "ram": {
            "total": used,
            "capacity": capacity,
            "sections": {**sections, "stack": stack, "padding": used - sum(sections.values()) - stack},
            "parts": dict(sorted(ram_parts.items(), key=lambda entry: (-entry[1], entry[0]))),
            "arena": arena,
        },
        # Others that hold something.
        "memories": {
            name: {"total": total, "capacity": image.memories[name][1]} for name, total in sorted(others.items())
        },
    }


def render(title, summary):
    """Returns the report as text."""
    flash, ram = summary["flash"], summary["ram"]
    lines = [title, ""]
    lines.append(f"{'flash by part':<44}{'code':>10}{'constants':>11}{'initial':>9}{'total':>10}")
    for name, part in flash["parts"].items():
        lines.append(f"{name:<44}{part['code']:>10,}{part['constants']:>11,}{part['initial']:>9,}{part['total']:>10,}")
        if name != _PADDING[0]:
            for object_name, size in sorted(part["objects"].items(), key=lambda entry: (-entry[1], entry[0])):
                lines.append(f"  {object_name:<72}{size:>10,}")
    lines.append(f"{'flash, of ' + format(flash['capacity'], ',') + ' bytes':<74}{flash['total']:>10,}")
    lines += ["", f"{'RAM by section':<74}{'bytes':>10}"]
    for name, size in ram["sections"].items():
        lines.append(f"{name:<74}{size:>10,}")
    lines.append(f"{'RAM, of ' + format(ram['capacity'], ',') + ' bytes':<74}{ram['total']:>10,}")
    lines.append(f"{'left for the arena':<74}{ram['arena']:>10,}")
    for name, memory in summary["memories"].items():
        lines.append(f"{name + ', of ' + format(memory['capacity'], ',') + ' bytes':<74}{memory['total']:>10,}")
    licences = "\n" + components.text(summary["components"]) if "components" in summary else ""
    return "\n".join(lines) + "\n" + licences


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("title", "map", "text", "json"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--components", type=json.loads)
    parser.add_argument("--own", default="")
    parser.add_argument("--headers-of", action="append", default=[])
    args = parser.parse_args(argv)
    with open(args.map, encoding="utf-8", errors="replace") as lines:
        summary = summarize(parse(lines.read()))
    if args.components is not None:
        parts = {name: part["total"] for name, part in summary["flash"]["parts"].items()}
        summary["components"] = components.contained(args.components, args.own, parts, args.headers_of)
    with open(args.text, "w", encoding="utf-8") as out:
        out.write(render(args.title, summary))
    with open(args.json, "w", encoding="utf-8") as out:
        json.dump(summary, out, indent=1)
        out.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
