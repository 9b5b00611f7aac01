"""Boards as data: reads a description, refuses an invalid one, and writes the files that a link needs.

    board.py BOARD [--core CPU] [--script FILE --template FILE] [--json FILE] [--cmake FILE]

BOARD is a JSON file, or a name from platforms/boards.bzl. A description:

    {
      "name": "my_board",             lower case, digits and "_"
      "core": "cortex-m4",            the board's core, as in -mcpu
      "clock_hz": 64000000,           frequency of the core and its SysTick
      "memories": {                   FLASH and RAM; MAILBOX, where a simulator loads a job, may be left out
        "FLASH": {"origin": "0x08000000", "size": 524288, "wait_states": 3},
        "RAM": {"origin": "0x20000000", "size": 131072}
      },
      "uart": {"type": "cmsdk", "address": "0x40004000"},
      "simulators": {                 the simulators that run its images, and the settings of each; may be {}
        "qemu": {"machine": "mps2-an386"},
        "renode": {}
      },
      "start": "start.c"              your own start-up code, a C source that defines bsp_reset(); may be left out
    }

Numbers may also be strings, which can be hexadecimal. `wait_states` of a 32-bit read, in clock cycles of the core, is
optional. `header` in "uart" is your own driver. It and `start` are paths relative to the JSON file's folder.

Standard library only.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any

TABLES = pathlib.Path(__file__).absolute().parent.parent / "tables.json"

_FIELDS = ("name", "core", "clock_hz", "memories", "uart", "simulators")
_OPTIONAL_FIELDS = ("start",)
_REQUIRED_MEMORIES = ("FLASH", "RAM")
_MAILBOX = "MAILBOX"
_PLACED = (*_REQUIRED_MEMORIES, _MAILBOX)  # by the linker script's template
# Alignment of the vector table, at the start of FLASH, and of the arena and the stack, in RAM.
_ALIGNMENTS = {"FLASH": 128, "RAM": 16}
_KINDS = {"string": "a string", "strings": "a list of strings"}


class BoardError(ValueError):
    """A description is invalid; the message has a line for each problem."""


@dataclasses.dataclass(frozen=True)
class Memory:
    """A memory of a board."""

    origin: int
    size: int  # bytes
    wait_states: int | None  # of a 32-bit read, in clock cycles of the core; None: not known


@dataclasses.dataclass(frozen=True)
class Board:
    """A board that images are linked for; the simulators that it names run them."""

    name: str  # "mps3_an547"
    core: str  # that it has: "cortex-m55"
    clock_hz: int
    memories: dict[str, Memory]  # FLASH, RAM, MAILBOX, and others
    uart: int  # base address
    uart_type: str  # "cmsdk", "nrf51", or a driver of the user's
    uart_header: str  # the path of that driver, if it is not of platforms/bsp; else ""
    simulators: dict[str, dict[str, Any]]  # name -> what it needs to know
    start: str = ""  # the path of its own start-up code; "" if there is none
    path: pathlib.Path | None = None  # of the description; None if it is in the table

    @property
    def instructions_per_tick(self) -> float:
        """Returns the instructions per SysTick tick in simulators, where an instruction takes 1 ns of virtual time."""
        return 1e9 / self.clock_hz


@dataclasses.dataclass(frozen=True)
class Tables:
    """platforms/tables.json."""

    cores: list[dict[str, Any]]
    boards: list[dict[str, Any]]
    simulators: dict[str, dict[str, Any]]
    uarts: list[str]

    @property
    def cpus(self) -> list[str]:
        """Returns the cores that a board can have: those that images are built for, and others that run such images."""
        cpus = [core["cpu"] for core in self.cores] + [cpu for core in self.cores for cpu in core["also_runs_on"]]
        return list(dict.fromkeys(cpus))

    def runs(self, board: Board, cpu: str) -> bool:
        """Returns whether the core of `board` has every instruction of an image for `cpu`."""
        return any(board.core in (cpu, *core["also_runs_on"]) for core in self.cores if core["cpu"] == cpu)


def load_tables(path: pathlib.Path = TABLES) -> Tables:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Tables(
        cores=data["cores"],
        boards=data["boards"],
        simulators={entry["name"]: entry for entry in data["simulators"]},
        uarts=data["uarts"],
    )


def _number(value: Any) -> int | None:
    """Returns a number, given as such or in a string; None if it is neither."""
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _memory_problems(memories: Any) -> Iterator[str]:
    if not isinstance(memories, dict):
        yield 'memories: give an object, name -> {"origin": ..., "size": ...}'
        return
    for name in _REQUIRED_MEMORIES:
        if name not in memories:
            yield f"memories: {name} is missing; an image needs {' and '.join(_REQUIRED_MEMORIES)}"
    spans = []
    for name, memory in memories.items():
        if not re.fullmatch("[A-Z][A-Z0-9_]*", name):
            yield f"memories: {name!r} cannot be a name in a linker script; use upper case, digits and _"
        if not isinstance(memory, dict) or not {"origin", "size"} <= memory.keys() <= {"origin", "size", "wait_states"}:
            yield f"memory {name}: give origin and size, and wait_states if they are known"
            continue
        origin, size, wait_states = (_number(memory.get(field)) for field in ("origin", "size", "wait_states"))
        if origin is None or size is None or origin < 0 or size <= 0 or origin + size > 1 << 32:
            yield f"memory {name}: origin and size must be numbers of bytes within 4 GiB, the size at least 1"
            continue
        if memory.get("wait_states") is not None and (wait_states is None or wait_states < 0):
            yield f"memory {name}: wait_states must be a number of clock cycles, or left out if not known"
        alignment = _ALIGNMENTS.get(name, 1)
        if origin % alignment or (name == "RAM" and size % alignment):
            yield f"memory {name}: its origin{' and size' * (name == 'RAM')} must be multiples of {alignment}"
        spans.append((origin, origin + size, name))
    spans.sort()
    for (_, end, name), (begin, _, other) in zip(spans, spans[1:]):
        if begin < end:
            yield f"memories: {name} and {other} overlap from {begin:#010x} on; change an origin or a size"


def _uart_problems(uart: Any, own_driver: bool, tables: Tables) -> Iterator[str]:
    if not isinstance(uart, dict) or not {"type", "address"} <= uart.keys() <= {"type", "address", "header"}:
        yield "uart: give type and address, and header for your own driver"
        return
    address = _number(uart["address"])
    if address is None or not 0 <= address < 1 << 32:
        yield "uart: address must be a number below 4 GiB"
    if uart["type"] not in tables.uarts and not own_driver:
        yield (
            f"uart: there is no driver for {uart['type']!r}; choose one of {', '.join(tables.uarts)}, or give header, "
            "your own driver like platforms/bsp/uart_cmsdk.h"
        )


def _simulator_problems(simulators: Any, tables: Tables) -> Iterator[str]:
    if not isinstance(simulators, dict):
        yield "simulators: give an object, name -> its settings; {} if no simulator runs the board's images"
        return
    for name, given in simulators.items():
        if name not in tables.simulators:
            known = ", ".join(tables.simulators)
            yield f"simulators: {name!r} is unknown; choose from {known}, or leave it out if nothing runs the images"
            continue
        entry = tables.simulators[name]
        needs, title = entry["needs"], entry["title"]
        if not isinstance(given, dict):
            yield f"simulators: give {name} an object with {', '.join(needs) or 'nothing in it'}"
            continue
        for field, kind in needs.items():
            value = given.get(field)
            if field not in given and field in entry["optional"]:
                continue
            values = value if kind == "strings" and isinstance(value, list) else [value]
            if (kind == "strings") != isinstance(value, list) or not all(isinstance(text, str) for text in values):
                yield f"simulators: {title} needs {field!r} of the board, {_KINDS[kind]}"
        for field in given.keys() - needs.keys():
            yield f"simulators: {title} takes no {field!r}, only {', '.join(needs) or 'the name'}"


def problems(data: Any, tables: Tables, own_driver: bool = False) -> list[str]:
    """Returns what is wrong with a description, and what to do about it; an empty list if it is valid.

    own_driver: the build provides the driver for the UART, without `header`.
    """
    if not isinstance(data, dict):
        return ["a description must be a JSON object"]
    found = [f"{field} is missing" for field in _FIELDS if field not in data]
    found += [
        f"{field!r} is not a field of a board; the fields are {', '.join(_FIELDS + _OPTIONAL_FIELDS)}"
        for field in data
        if field not in _FIELDS + _OPTIONAL_FIELDS
    ]
    if not re.fullmatch("[a-z][a-z0-9_]*", str(data.get("name", "x"))):
        found.append(f"name: {data['name']!r} must be lower case, digits and _")
    if "core" in data and data["core"] not in tables.cpus:
        whole = ", ".join(cpu for cpu in tables.cpus if "+" not in cpu)
        found.append(
            f"core: {data['core']!r} is unknown; choose one of {whole}, or one of these without some features, "
            "as docs/reference/targets.md lists them. A new one is an entry of platforms/cores.bzl"
        )
    clock = _number(data.get("clock_hz", 1))
    if clock is None or clock <= 0:
        found.append("clock_hz must be a positive number")
    if "memories" in data:
        found += _memory_problems(data["memories"])
    if "uart" in data:
        uart = data["uart"]
        found += _uart_problems(uart, own_driver or (isinstance(uart, dict) and "header" in uart), tables)
    if not isinstance(data.get("start", ""), str):
        found.append("start must be the path of a C source")
    if "simulators" in data:
        found += _simulator_problems(data["simulators"], tables)
    return found


def parse(data: Any, tables: Tables, path: pathlib.Path | None = None, own_driver: bool = False) -> Board:
    """Returns the board that `data` describes; BoardError if the description is invalid."""
    found = problems(data, tables, own_driver)
    if found:
        name = data.get("name") if isinstance(data, dict) else None
        where = f" ({path})" if path else ""
        raise BoardError("\n".join([f"board {name or 'without a name'}{where}:", *(f"  {line}" for line in found)]))

    def order(item: tuple[str, Any]) -> int:  # as in a linker script
        return (*_REQUIRED_MEMORIES, _MAILBOX, item[0]).index(item[0])

    def number(value: Any) -> int:  # which problems() has accepted
        found = _number(value)
        assert found is not None
        return found

    def memory(given: dict[str, Any]) -> Memory:
        return Memory(number(given["origin"]), number(given["size"]), _number(given.get("wait_states")))

    return Board(
        name=data["name"],
        core=data["core"],
        clock_hz=number(data["clock_hz"]),
        memories={name: memory(given) for name, given in sorted(data["memories"].items(), key=order)},
        uart=number(data["uart"]["address"]),
        uart_type=data["uart"]["type"],
        uart_header=data["uart"].get("header", ""),
        simulators=data["simulators"],
        start=data.get("start", ""),
        path=path,
    )


def load(board: str, tables: Tables, own_driver: bool = False) -> Board:
    """Returns the board in a JSON file, or the board in the table with this name; BoardError if there is none."""
    if board.endswith(".json"):
        path = pathlib.Path(board)
        try:
            return parse(json.loads(path.read_text(encoding="utf-8")), tables, path, own_driver)
        except (OSError, json.JSONDecodeError) as error:
            raise BoardError(f"{board} does not describe a board: {error}") from error
    for data in tables.boards:
        if data["name"] == board.replace("-", "_"):
            return parse(data, tables)
    names = ", ".join(data["name"] for data in tables.boards)
    raise BoardError(f"unknown board {board!r}; choose one of {names}, or give a JSON file that describes your own")


def check_core(board: Board, cpu: str, tables: Tables) -> None:
    """Raises BoardError if images for `cpu` do not run on `board`."""
    if not tables.runs(board, cpu):
        raise BoardError(f"board {board.name} has a {board.core}, which does not run images for {cpu}")


def linker_memories(board: Board) -> str:
    """Returns the lines of MEMORY in a linker script."""
    memories = dict(board.memories)
    memories.setdefault(_MAILBOX, Memory(0, 0, None))
    return "\n".join(
        f"  {name} : ORIGIN = {memory.origin}, LENGTH = {memory.size}" for name, memory in memories.items()
    )


def linker_sections(board: Board) -> str:
    """Returns the output sections of the memories that the template of linker scripts does not place itself."""
    return "\n".join(
        f"  .memory.{name} (NOLOAD) : ALIGN(16) {{ *(.memory.{name}) }} > {name} :NONE"
        for name in board.memories
        if name not in _PLACED
    )


def as_json(board: Board) -> str:
    """Returns a description that load() can read, without the fields that only the build of an image needs."""
    return (
        json.dumps(
            {
                "name": board.name,
                "core": board.core,
                "clock_hz": board.clock_hz,
                "memories": {name: dataclasses.asdict(memory) for name, memory in board.memories.items()},
                "uart": {"type": board.uart_type, "address": board.uart},
                "simulators": board.simulators,
            },
            indent=2,
        )
        + "\n"
    )


def as_cmake(board: Board) -> str:
    """Returns CMake code that sets the variables for firmware.cmake."""
    header = f"platforms/bsp/uart_{board.uart_type}.h"
    if board.uart_header and board.path:
        header = str((board.path.parent / board.uart_header).resolve())
    start = ""
    if board.start:
        start = str(((board.path or TABLES).parent / board.start).resolve())
    qemu = board.simulators.get("qemu", {})
    options = "".join(f'\n    "{option}"' for option in qemu.get("options", []))
    return "".join(
        [
            f'set(BOARD_NAME "{board.name.replace("_", "-")}")\n',
            f"set(BOARD_CLOCK_HZ {board.clock_hz})\n",
            f"set(BOARD_UART {board.uart})\n",
            f'set(BOARD_UART_HEADER "{header}")\n',
            f'set(BOARD_START "{start}")\n',
            f'set(BOARD_QEMU_MACHINE "{qemu.get("machine", "")}")\n',
            f"set(BOARD_QEMU_OPTIONS{options})\n",
        ]
    )


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("board")
    parser.add_argument("--core", help="refuse a board that does not run images for this core")
    parser.add_argument("--tables", type=pathlib.Path, default=TABLES, help="default: platforms/tables.json")
    parser.add_argument("--template", type=pathlib.Path, help="of the linker script")
    parser.add_argument("--script", type=pathlib.Path, help="the linker script to write")
    parser.add_argument("--json", type=pathlib.Path, help="the checked description to write")
    parser.add_argument("--cmake", type=pathlib.Path, help="the file for firmware.cmake to include")
    parser.add_argument("--own-uart", action="store_true", help="the build provides a driver for the UART")
    args = parser.parse_args(argv)
    try:
        tables = load_tables(args.tables)
        board = load(args.board, tables, args.own_uart)
        if args.core:
            check_core(board, args.core, tables)
    except BoardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.script:
        template = args.template.read_text(encoding="utf-8")
        script = template.replace("@MEMORIES@", linker_memories(board)).replace("@SECTIONS@", linker_sections(board))
        args.script.write_text(script, encoding="utf-8")
    if args.json:
        args.json.write_text(as_json(board), encoding="utf-8")
    if args.cmake:
        args.cmake.write_text(as_cmake(board), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
