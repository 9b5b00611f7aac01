"""The fenced code of documents, for the tests that try it.

Code of the languages in LANGUAGES is tried; where that is not possible, `not-run` stands after the language.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("cpp", "python", "yaml")

BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: the text between the fences, and the words after the first one."""

    line: int  # of its first line of text, from 1
    language: str
    options: str
    text: str

    def below_its_line(self) -> str:
        """Returns the text with as many empty lines before it as stand there in the document, for messages."""
        return "\n" * (self.line - 1) + self.text


def blocks(path: Path) -> list[Block]:
    """Returns the blocks of a document."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        language, _, options = match[2].partition(" ")
        found.append(Block(text.count("\n", 0, match.start(3)) + 1, language, options, match[3]))
    return found


def tried(path: Path, language: str) -> list[Block]:
    """Returns the blocks of a document that are tried."""
    return [block for block in blocks(path) if block.language == language and block.options != "not-run"]


def tutorial_file(block: Block) -> str:
    """Returns the name of the file that a block of the tutorial is, from its first line; "" if it is none."""
    found = re.match(r"(?:#|//) (\w+\.\w+)\n", block.text)
    return found[1] if found else ""


def compile_cpp(source: str, include: Path) -> str:
    """Returns what g++ says about a file that includes headers of the runtime, and of the folder `include`."""
    executorch = Path(_folder_of("executorch")) / "include"
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused", "-Werror", "-xc++", "-"]
    command += [f"-I{include}", f"-I{ROOT}", f"-isystem{executorch}", "-DC10_USING_CUSTOM_GENERATED_MACROS"]
    command += [f"-isystem{executorch}/executorch/runtime/core/portable_type/c10"]
    return subprocess.run(command, input=source, capture_output=True, text=True).stderr


def _folder_of(package: str) -> str:
    found = importlib.util.find_spec(package)
    assert found and found.submodule_search_locations
    return found.submodule_search_locations[0]
