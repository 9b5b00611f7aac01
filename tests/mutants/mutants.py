"""Makes mutants of the checks of payloads, and reports those that no test kills.

    bazel run //tests/mutants                      all mutants
    bazel run //tests/mutants -- geometry.cc view.cc    those of these files
    bazel run //tests/mutants -- --jobs 4

A mutant is a source with one change: a relation (`<` as `<=`, `==` as `!=`), `&&` as `||`, `+` as `-`, or a number
that is one more or one less. A test that then fails, or code that does not compile, kills it. A mutant that lives is
equivalent, with its reason in equivalents.txt, or a test is missing: the program ends with 1 if there is one of these,
or if the list names one that is killed or does not exist.

GCC compiles the changed file only and links it with everything else, so a mutant takes a second. Standard library only.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("runtime/payload")
MUTATED = ("bounds.cc", "geometry.cc", "validate.cc", "view.cc")
# The first one is the fastest.
TESTS = ("geometry_test.cc", "view_test.cc", "validate_test.cc")
TIMEOUT_S = 60
# Some mutants read past an array and then compute the same.
SANITIZERS = ("-fsanitize=address,undefined,bounds-strict", "-fno-sanitize-recover=all")
ALIVE = "alive"
EQUIVALENTS = Path("tests/mutants/equivalents.txt")

# What the compiler decides, what only a log shows, and what is no code.
_IGNORED = re.compile(
    r'//[^\n]*|"(?:\\.|[^"\\\n])*"|^#[^\n]*|static_assert\([^;]*;|ET_LOG\([^;]*;|template <[^{;]*?>\n'
    r"|(?:static_cast|reinterpret_cast|const_cast|initializer_list|Result|array)<[^()]*?>|\[\[[^]]*\]\]",
    re.MULTILINE,
)
_TOKEN = re.compile(
    r"(?P<skip>->|<<=?|>>=?|\+\+|--|\+=|-=|operator\S+)"
    r"|(?P<relation><=|>=|==|!=|<|>)|(?P<logic>&&|\|\|)|(?P<sum>(?<=[\w)] )[+-](?= ))"
    r"|(?P<number>\b(?:0[xX][0-9A-Fa-f]+|\d+)(?=[uU]?\b))"
)
_RELATIONS = {"<": ("<=",), "<=": ("<",), ">": (">=",), ">=": (">",), "==": ("!=",), "!=": ("==",)}


@dataclass(frozen=True)
class Mutant:
    """One change of a source. `key` names it by the text of its line, so that other changes of the file keep it."""

    file: str
    start: int
    end: int
    text: str
    key: str

    def of(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]


def _changes(token: re.Match[str]) -> Sequence[str]:
    text = token.group()
    match token.lastgroup:
        case "relation":
            return _RELATIONS[text]
        case "logic":
            return ("||" if text == "&&" else "&&",)
        case "sum":
            return ("-" if text == "+" else "+",)
        case "number":
            value = int(text, 0)
            return (str(value + 1), str(value - 1)) if value else ("1",)
        case _:
            return ()


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Yields the mutants of `source`. Their keys are unique: a line that occurs again has a number behind it."""
    code = _IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), source)
    seen: Counter[str] = Counter()
    for token in _TOKEN.finditer(code):
        begin = source.rfind("\n", 0, token.start()) + 1
        end = source.find("\n", token.start())
        for text in _changes(token):
            line = source[begin : token.start()] + f"[{token.group()} -> {text}]" + source[token.end() : end]
            key = f"{file}: {' '.join(line.split())}"
            seen[key] += 1
            if seen[key] > 1:
                key += f" #{seen[key]}"
            yield Mutant(file, token.start(), token.end(), text, key)


def equivalents(text: str) -> dict[str, str]:
    """Returns the reason of each key in the text of equivalents.txt: keys, and below each group of them `    reason`.

    Raises ValueError for a key without a reason, or one that occurs twice.
    """
    reasons: dict[str, str] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            if line in reasons or line in waiting:
                raise ValueError(f"equivalents.txt names it twice: {line}")
            waiting.append(line)
            continue
        reasons.update(dict.fromkeys(waiting, line.strip()))
        waiting = []
    if waiting:
        raise ValueError(f"equivalents.txt has no reason for: {waiting[0]}")
    return reasons


def table(sources: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    """Returns the table of README.md, for the texts of files by their names and the reasons of equivalents.txt.

    It counts every mutant as killed that the list does not name: so it is, if the program ends with 0.
    """
    rows = ["| file | mutants | killed | equivalent |", "|---|---|---|---|"]
    for file, source in sources.items():
        keys = {mutant.key for mutant in mutants(file, source)}
        equivalent = len(keys & set(reasons))
        rows.append(f"| `{file}` | {len(keys)} | {len(keys) - equivalent} | {equivalent} |")
    return "\n".join(rows) + "\n"


def _external(name: str) -> Path:
    """Returns the folder of another repository, whatever Bazel puts before its name; raises RuntimeError if Bazel has
    not fetched it."""
    folder = Path("bazel-out").resolve().parents[2] / "external"  # of <output base>/execroot/<workspace>/bazel-out
    for path in sorted(folder.glob(f"*{name}")):
        if re.fullmatch(rf"(.*[~+])?{name}", path.name) and path.is_dir():
            return path
    raise RuntimeError(f"{folder} lacks {name}: call this program with `bazel run`")


class Build:
    """The tests in one program: with a library of everything that no mutant changes, and one changed object."""

    def __init__(self, folder: Path, gtest: Path, wheel: Path):
        self._folder = folder
        includes = [gtest / "googletest", gtest / "googletest/include", gtest / "googlemock/include", wheel / "include"]
        includes.append(wheel / "include/executorch/runtime/core/portable_type/c10")
        self._flags = ["-std=c++17", "-O0", "-w", "-fPIC", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_LOG_ENABLED=0"]
        self._flags += SANITIZERS
        self._flags += ["-iquote", ".", *(f"-isystem{path}" for path in includes)]
        self._fixed = [FOLDER / name for name in ("operators.cc", "crc32.cc")]
        self._fixed += [Path("tests/payloads/payload_builder.cc"), Path("runtime/standalone/et_shim.cc")]
        self._fixed += [gtest / "googletest/src/gtest-all.cc"]
        kernels = Path("runtime/kernels")
        self._fixed += [kernels / "portable/all.cc", kernels / "common/broadcast.cc", *kernels.glob("*/*_portable.cc")]
        self._linked = [FOLDER / name for name in (*TESTS, *MUTATED)] + [gtest / "googletest/src/gtest_main.cc"]

    def _object(self, source: Path) -> str:
        return str(self._folder / f"{source.parent.name}_{source.stem}.o")

    def _compile(self, source: Path, to: str) -> bool:
        command = ["g++", *self._flags, "-c", str(source), "-o", to]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def everything(self, jobs: int) -> None:
        """Compiles everything. Raises RuntimeError if a source does not compile, or a test fails without a change."""
        sources = [*self._fixed, *self._linked]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for source, done in zip(sources, pool.map(lambda s: self._compile(s, self._object(s)), sources)):
                if not done:
                    raise RuntimeError(f"{source} does not compile")
        library = ["-shared", *map(self._object, self._fixed), "-o", str(self._folder / "libfixed.so")]
        subprocess.run(["g++", *SANITIZERS, *library], check=True)
        if self._fails(self._folder / "all", None, ""):
            raise RuntimeError("a test fails without a change")

    def _fails(self, program: Path, file: str | None, changed: str) -> bool:
        """Whether a test fails with the object `changed` in place of that of `file`."""
        objects = [changed if source.name == file else self._object(source) for source in self._linked]
        link = [
            "-rdynamic",
            "-Wl,--allow-shlib-undefined",
            f"-Wl,-rpath,{self._folder}",
            f"-L{self._folder}",
            "-lfixed",
        ]
        subprocess.run(["g++", *SANITIZERS, *objects, *link, "-lpthread", "-o", str(program)], check=True)
        command = [str(program), "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            return subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False).returncode != 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            program.unlink()

    def fate(self, mutant: Mutant, number: int) -> str:
        """Returns what becomes of a mutant: ALIVE, or how it ends."""
        source = self._folder / f"{number}.cc"
        source.write_text(mutant.of((FOLDER / mutant.file).read_text()))
        changed = str(source.with_suffix(".o"))
        if not self._compile(source, changed):
            return "not compiled"
        fails = self._fails(source.with_suffix(""), mutant.file, changed)
        Path(changed).unlink()
        return "killed" if fails else ALIVE


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"of {', '.join(MUTATED)}")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    options = parser.parse_args(argv[1:])
    os.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    files = options.files or MUTATED
    if unknown := set(files) - set(MUTATED):
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(MUTATED)}")
    sources = {file: (FOLDER / file).read_text() for file in files}
    chosen = [m for file, source in sources.items() for m in mutants(file, source)]
    reasons = {k: v for k, v in equivalents(EQUIVALENTS.read_text()).items() if k.split(":")[0] in files}
    with tempfile.TemporaryDirectory() as folder:
        build = Build(Path(folder), _external("googletest"), _external("executorch_wheel"))
        print(f"compiles everything, then {len(chosen)} mutants", flush=True)
        build.everything(options.jobs)
        fates = {}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for mutant, fate in zip(chosen, pool.map(build.fate, chosen, range(len(chosen))), strict=True):
                fates[mutant.key] = fate
                if fate == ALIVE and mutant.key not in reasons:
                    print(f"lives: {mutant.key}", flush=True)
    alive = {key for key, fate in fates.items() if fate == ALIVE}
    for key in sorted(set(reasons) - alive):
        print(f"equivalents.txt names {'a mutant that is killed' if key in fates else 'no mutant'}: {key}")
    counts = Counter(fates.values())
    print(
        f"{len(fates)} mutants: {counts['killed']} killed by tests, {counts['not compiled']} by the compiler, "
        f"{len(alive & set(reasons))} equivalent, {len(alive - set(reasons))} alive"
    )
    if alive != set(reasons):
        return 1
    print(f"README.md must say:\n{table(sources, reasons)}", end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
