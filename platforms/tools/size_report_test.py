"""The figures of the report add up to the section sizes of the image, for any map."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from platforms.tools import size_report

IMAGES = ["cortex_m0plus", "cortex_m4", "cortex_m55"]
FOLDER = pathlib.Path("platforms/bsp/selftest")


def section_sizes(elf):
    """Returns name -> bytes, from readelf, independently of the map."""
    output = subprocess.run(
        [os.environ["ARM_READELF"], "--sections", "--wide", elf], check=True, capture_output=True, text=True
    ).stdout
    rows = re.findall(r"^\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", output, re.MULTILINE)
    return {name: int(size, 16) for name, size in rows}


@pytest.mark.parametrize("image", IMAGES)
def test_adds_up_to_the_image(image):
    summary = json.loads((FOLDER / f"{image}.size.json").read_text())
    sizes = section_sizes(FOLDER / f"{image}.elf")
    flash, ram = summary["flash"], summary["ram"]
    assert flash["total"] == sum(sizes.get(name, 0) for name in (".text", ".rodata", ".init_array", ".data"))
    assert flash["total"] == sum(part["total"] for part in flash["parts"].values())
    for part in flash["parts"].values():
        assert part["total"] == part["code"] + part["constants"] + part["initial"] == sum(part["objects"].values())
    assert ram["sections"][".data"] == sizes[".data"]
    assert ram["sections"][".bss"] == sizes[".bss"]
    assert ram["sections"]["stack"] == 16384
    assert 0 <= ram["sections"]["padding"] < 32  # Before .bss and after it.
    assert ram["total"] == sum(ram["sections"].values()) == ram["capacity"] - ram["arena"]


@pytest.mark.parametrize("image", IMAGES)
def test_flash_is_what_is_programmed(image):
    """The .bin has as many bytes, except for the alignment between sections."""
    summary = json.loads((FOLDER / f"{image}.size.json").read_text())
    assert 0 <= (FOLDER / f"{image}.bin").stat().st_size - summary["flash"]["total"] <= 48


def test_parts_are_packages():
    parts = json.loads((FOLDER / "cortex_m4.size.json").read_text())["flash"]["parts"]
    assert {"platforms/bsp", "platforms/bsp/selftest", "toolchain libgcc.a"} <= set(parts)
    assert "startup.o" in parts["platforms/bsp"]["objects"]
    assert not [name for name in parts if "/usr" in name or "bazel" in name]


def test_text_has_the_totals():
    summary = json.loads((FOLDER / "cortex_m4.size.json").read_text())
    text = (FOLDER / "cortex_m4.size").read_text()
    assert text.startswith("//platforms/bsp/selftest:image for cortex-m4\n")
    for figure in (summary["flash"]["total"], summary["ram"]["total"], summary["ram"]["arena"]):
        assert f"{figure:,}" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "path, expected",
    [
        ("bazel-out/x-opt-ST-1/bin/runtime/kernels/_objs/add/add.o", ("runtime/kernels", "add.o")),
        ("bazel-out/x-opt/bin/runtime/kernels/libadd.a(add.o)", ("runtime/kernels", "add.o")),
        ("bazel-out/x-opt/bin/_objs/main/main.o", (".", "main.o")),
        ("bazel-out/x-opt/bin/external/cmsis_nn/libcmsis_nn.a(arm_add.o)", ("external/cmsis_nn", "arm_add.o")),
        ("/usr/lib/arm/lib/libc_nano.a(libc_a-memset.o)", ("toolchain libc_nano.a", "libc_a-memset.o")),
        ("external/+e+arm_gcc/toolchain/lib/libm.a(sf_fma.o)", ("toolchain libm.a", "sf_fma.o")),
        ("external/arm_gcc/toolchain/lib/crtn.o", ("toolchain", "crtn.o")),
    ],
)
def test_part_and_object(path, expected):
    assert size_report.part_and_object(path) == expected


MAP = """
Memory Configuration

Name             Origin             Length             Attributes
FLASH            0x00000000         0x00001000
RAM              0x20000000         0x00000400
*default*        0x00000000         0xffffffff

Linker script and memory map

.text           0x00000000       0x20
 .text.short    0x00000000        0x8 bazel-out/c/bin/a/liba.a(one.o)
 .text._ZN17a_very_long_function_nameEv
                0x00000008       0x10 bazel-out/c/bin/a/liba.a(two.o)
                0x00000008                a_very_long_function_name()
 *fill*         0x00000018        0x8 
 .text.empty    0x00000020        0x0 bazel-out/c/bin/a/liba.a(three.o)

/DISCARD/
 .ARM.exidx     0x00000000        0x8 bazel-out/c/bin/a/liba.a(one.o)

.bss            0x20000000       0x10
 COMMON         0x20000000       0x10 bazel-out/c/bin/b/_objs/b/b.o
                0x20000400                __stack_top = 0x20000400
                0x20000300                __stack_bottom = 0x20000300
                0x20000010                __arena_start = 0x20000010
                0x20000300                __arena_end = 0x20000300

.debug_info     0x00000000      0x500
 .debug_info    0x00000000      0x500 bazel-out/c/bin/a/liba.a(one.o)
"""


def test_small_map_by_hand():
    summary = size_report.summarize(size_report.parse(MAP))
    assert summary["flash"]["total"] == 0x20
    assert summary["flash"]["parts"]["a"]["objects"] == {"one.o": 8, "two.o": 16}
    assert summary["flash"]["parts"]["(padding)"]["total"] == 8
    assert summary["ram"]["sections"] == {".data": 0, ".bss": 16, "stack": 256, "padding": 0}
    assert summary["ram"]["parts"] == {"b": 16}
    assert summary["ram"]["arena"] == 0x2F0


def test_not_a_map():
    with pytest.raises(ValueError, match="not a linker map"):
        size_report.parse("hello\n")


def test_command_line(tmp_path):
    (tmp_path / "x.map").write_text(MAP)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "platforms.tools.size_report",
            "--title",
            "t",
            f"--map={tmp_path}/x.map",
            f"--text={tmp_path}/x.size",
            f"--json={tmp_path}/x.json",
        ],
        check=True,
    )
    assert json.loads((tmp_path / "x.json").read_text())["flash"]["capacity"] == 4096
    assert (tmp_path / "x.size").read_text().startswith("t\n")
