"""The check refuses images and names what must not be in them; `bad.elf` really contains all of it."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from platforms.tools import check_image
from platforms.tools.check_image import Symbol

FOLDER = pathlib.Path("platforms/tools/testdata")


def run_tool(name, tmp_path, *options):
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "platforms.tools.check_image",
            "--label",
            f"//x:{name}",
            f"--nm={os.environ['ARM_NM']}",
            f"--readelf={os.environ['ARM_READELF']}",
            f"--map={FOLDER / name}.map",
            f"--elf={FOLDER / name}.elf",
            f"--output={tmp_path / 'out.elf'}",
            *options,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(name="refusal", scope="module")
def fixture_refusal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refusal")
    result = run_tool("bad", folder)
    assert result.returncode == 1
    assert not (folder / "out.elf").exists()
    return result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "malloc",
        "_malloc_r",
        "free",
        "_free_r",
        "_sbrk",
        "_sbrk_r",
        "operator new(unsigned int)",
        "__gxx_personality_v0",
        "__aeabi_unwind_cpp_pr0",
        "__cxa_begin_catch",
        "_Unwind_RaiseException",
        "_kill",
        "_exit",
    ],
)
def test_bad_image_is_refused_by_name(refusal, name):
    assert re.search(rf"^    {re.escape(name)}$", refusal, re.MULTILINE)


def test_section_of_exception_tables_is_named(refusal):
    assert re.search(r"^    section \.ARM\.extab, \d+ bytes$", refusal, re.MULTILINE)


@pytest.mark.parametrize("name", ["malloc", "operator new(unsigned int)", "__cxa_begin_catch"])
def test_users_are_named(refusal, name):
    users = refusal.split(f"    {name}\n")[1].splitlines()[0]
    assert re.fullmatch(r" +used by .*platforms/tools/testdata/libbad_cc\.a\(bad\.o\).*", users)


def test_message_has_no_path_of_the_machine(refusal):
    assert "/usr/" not in refusal and "bazel-out" not in refusal


def test_good_image_is_copied(tmp_path):
    result = run_tool("good", tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out.elf").read_bytes() == (FOLDER / "good.elf").read_bytes()


def test_unchecked(tmp_path):
    assert run_tool("bad", tmp_path, "--unchecked").returncode == 0
    assert (tmp_path / "out.elf").exists()


def kinds(*names, letter="T"):
    symbols = [Symbol(name, letter, name) for name in names]
    return [finding.kind for finding in check_image.find(symbols, [], {})]


@pytest.mark.parametrize(
    "name",
    [
        "calloc",
        "realloc",
        "_calloc_r",
        "_realloc_r",
        "memalign",
        "aligned_alloc",
        "_Znwj",
        "_Znaj",
        "_ZnwjRKSt9nothrow_t",
        "_ZnajSt11align_val_t",
        "_Znwm",
    ],
)
def test_every_allocator(name):
    assert kinds(name) == ["heap"]


@pytest.mark.parametrize(
    "name",
    [
        "_ZdlPv",
        "_ZdlPvj",  # operator delete, which a virtual destructor needs
        "_ZnwjPv",  # placement new
        "allocate",
        "malloc_count",
        "free_slots",
        "MemoryAllocator_allocate",
        "_ZN15MemoryAllocator8allocateEjj",
        "__gnu_f2h_ieee",
        "memcpy",
        "unwind",
    ],
)
def test_what_only_looks_like_it(name):
    assert not kinds(name)


def test_system_calls_are_allowed_when_something_defines_them():
    assert kinds("_exit", letter="T") == []
    assert kinds("_exit", letter="A") == ["system"]


@pytest.mark.parametrize("section", [".gcc_except_table", ".gcc_except_table._ZN1AC2Ev", ".ARM.extab", ".eh_frame"])
def test_sections(section):
    assert check_image.find([], [(section, 8)], {})[0].kind == "exceptions"
    assert not check_image.find([], [(section, 0)], {})


def test_undefined_symbols_do_not_count():
    assert check_image.symbols_of("malloc U\nfree w\nmain T 0 4\n", "malloc U\nfree w\nmain T 0 4\n") == [
        Symbol("main", "T", "main")
    ]


def test_demangled_names_may_contain_spaces():
    assert check_image.symbols_of(
        "_Znwj T 00001a2c 00000028\n", "operator new(unsigned int) T 00001a2c 00000028\n"
    ) == [Symbol("_Znwj", "T", "operator new(unsigned int)")]


@given(
    st.lists(
        st.tuples(
            st.text("abcdefgh_:", min_size=1, max_size=60),
            st.lists(st.text("abc/.()", min_size=1, max_size=20), min_size=1, max_size=4),
        ),
        unique_by=lambda entry: entry[0],
    )
)
def test_cross_reference_reads_what_ld_writes(entries):
    """ld puts the defining file in column 50, or on the next line if the name is longer."""
    lines = ["", "Cross Reference Table", "", "Symbol                                            File"]
    for symbol, files in entries:
        first = f"{symbol:<50}{files[0]}" if len(symbol) < 50 else f"{symbol} {files[0]}"
        lines += [first, *(" " * 50 + file for file in files[1:])]
    assert check_image.cross_reference("\n".join(lines)) == dict(entries)
