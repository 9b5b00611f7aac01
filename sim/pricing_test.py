"""Cycles of steps between blocks: exactly, with a core of one cycle an instruction, and of loops with LLVM's tools."""

import dataclasses
import pathlib
import struct

import pytest

from sim import cycles, llvm, regions, simulator
from sim.core_models import CORE_MODELS
from sim.elf import Elf
from sim.pricing import priced
from sim.qemu import qemu

IMAGE = pathlib.Path("platforms/bsp/selftest/cortex_m55.elf")
NESTED = 8  # its command that has regions within a region


def listing(address, *instructions):
    """Returns a listing of instructions of four bytes each."""
    return "".join(f"{address + 4 * i:8x}:      \t{text}\n" for i, text in enumerate(instructions))


@dataclasses.dataclass(frozen=True)
class OneCycle(llvm.Tools):
    """Says that every instruction takes a cycle, and half of one if nothing depends on anything."""

    text: str

    def listing(self, elf, model):
        return self.text

    def analyze(self, model, core, regions, iterations):
        unknown = {line.split()[0] for lines in regions.values() for line in lines if line.startswith("udf")}
        found = {name: llvm.Region(iterations * len(lines), len(lines) / 2) for name, lines in regions.items()}
        return llvm.Analysis(found, frozenset(unknown))


def cycles_of(report, text, core):
    found = priced(report, pathlib.Path("image.elf"), core, CORE_MODELS[core], OneCycle("", "", "", text))
    trace = regions.parse(found.regions)
    return [region.cycles for region in trace.regions], found.unknown


# A loop of three instructions that runs 10 times after two others, and one after it.
LOOP = listing(0x100, "mov\tr0, #0xa", "nop", "ldr\tr1, [r2]", "subs\tr0, r0, #0x1", "bne\t0x108", "nop")
STEPS = """begin 0
block 1 100 2
block 2 108 3
block 3 114 1
step 0 1 1
step 1 2 1
step 2 2 9
step 2 3 1
end 33
total 33
"""


def test_a_branch_refills_at_most_where_it_is_not_foreseen():
    assert cycles_of(STEPS, LOOP, "cortex-m33") == ([(33, 33 + 9 * 2)], {})
    # The loop ends once against what is usual; least is what the units allow.
    least, most = cycles_of(STEPS, LOOP, "cortex-m7")[0][0]
    assert (least, most) == (round(33 / 2), 33 + round(2 * 1 * 4))


def test_the_end_of_a_low_overhead_loop_costs_once():
    text = LOOP.replace("bne\t0x108", "le\tlr, 0x108")
    # Without the ten ends, and at most a refill for the first of them.
    assert cycles_of(STEPS, text, "cortex-m55")[0] == [(23, 23 + 3)]


def test_several_words_and_divisions():
    text = LOOP.replace("mov\tr0, #0xa", "pop\t{r0, r1, r2, r3}").replace("nop", "udiv\tr0, r1, r2", 1)
    assert cycles_of(STEPS, text, "cortex-m33")[0] == [(33 + 3, 33 + 3 + 10 + 9 * 2)]
    assert cycles_of(STEPS, text, "cortex-m55")[0] == [(33 + 1, 33 + 3 + 10 + 9 * 3)]


def test_unknown_instructions_are_counted_by_how_often_they_execute():
    text = LOOP.replace("ldr\tr1, [r2]", "udf\t#0x1")
    assert cycles_of(STEPS, text, "cortex-m33") == ([(33, 51)], {"udf": 10})


def test_nothing_becomes_free_that_is_unknown_in_sequence_only():
    """Where the block alone had no unknown instruction, but together with another one it has."""

    class Forgets(OneCycle):
        def analyze(self, model, core, regions, iterations):
            found = super().analyze(model, core, regions, iterations)
            unknown = {"ldr", "it"} if any("-" in name for name in regions) else set()
            return dataclasses.replace(found, unknown=frozenset(unknown))

    with pytest.raises(simulator.SimulatorError, match="llvm-mca leaves out ldr, which would then cost nothing"):
        priced(STEPS, pathlib.Path("image.elf"), "cortex-m33", CORE_MODELS["cortex-m33"], Forgets("", "", "", LOOP))


def test_regions_have_the_steps_between_their_markers():
    report = STEPS.replace("end 33\n", "end 33\nbegin 33\nstep 3 1 2\nend 37\n").replace("total 33", "total 37")
    assert cycles_of(report, LOOP, "cortex-m33")[0] == [(33, 51), (4, 8)]


def test_blocks_must_add_up_to_the_executed_instructions():
    with pytest.raises(simulator.SimulatorError, match="blocks with 33 instructions executed, and 32 instructions"):
        cycles_of(STEPS.replace("end 33", "end 32"), LOOP, "cortex-m33")


def test_code_that_the_image_lacks_is_refused():
    with pytest.raises(
        simulator.SimulatorError, match=r"image\.elf: the listing .* has no 3 instructions from 0x108 on"
    ):
        cycles_of(STEPS, listing(0x100, "nop", "nop"), "cortex-m33")


# With LLVM's tools ----------------------------------------------------------


@pytest.fixture(scope="module")
def tools():
    try:
        return llvm.tools()
    except simulator.SimulatorError as error:
        pytest.skip(str(error))


def test_tools_that_are_missing_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("LLVM_TOOLS", str(tmp_path))
    llvm.tools.cache_clear()
    try:
        with pytest.raises(simulator.SimulatorError, match=r"Debian: llvm-19\).*llvm-mca is no program that runs"):
            llvm.tools()
    finally:
        llvm.tools.cache_clear()


# The loop of vector products with MVE: as it was first written, and with loads between the products.
TOGETHER = """vldrb.u8 q0, [r9], #16; vldrb.u8 q2, [r1, #16]; vldrb.u8 q1, [r9], #16; vmladava.s8 r4, q0, q2;
vldrb.u8 q3, [r3, #16]; vmladava.s8 r0, q1, q2; vldrb.u8 q2, [r5, #16]; vmladava.s8 r6, q0, q3; vmladava.s8 r2, q1, q3;
vldrb.u8 q3, [r7, #16]; vmladava.s8 r8, q0, q2; vmladava.s8 r12, q1, q2; vmladava.s8 r10, q0, q3;
vmladava.s8 lr, q1, q3"""
BETWEEN = """vmladava.s8 r4, q0, q2; vldrb.u8 q1, [r9], #16; vmladava.s8 r0, q1, q2; vldrb.u8 q3, [r3, #16];
vmladava.s8 r6, q0, q3; vldrb.u8 q2, [r5, #16]; vmladava.s8 r2, q1, q3; vldrb.u8 q3, [r7, #16]; vmladava.s8 r8, q0, q2;
vmladava.s8 r12, q1, q2; vldrb.u8 q2, [r1, #32]; vmladava.s8 r10, q0, q3; vldrb.u8 q0, [r9], #16;
vmladava.s8 lr, q1, q3"""


@dataclasses.dataclass(frozen=True)
class Listed(llvm.Tools):
    text: str

    def listing(self, elf, model):
        return self.text


# The loop of pairs of products with DSP instructions.
PAIRS = """ldr r2, [r0], #4; ldr r3, [r0], #4; ldr r12, [r1], #4; sxtb16 lr, r12; sxtb16 r12, r12, ror #8;
smlad r4, r2, lr, r4; smlad r8, r3, lr, r8; smlad r5, r2, r12, r5; smlad r9, r3, r12, r9; ldr r12, [r1], #4;
sxtb16 lr, r12; sxtb16 r12, r12, ror #8; smlad r6, r2, lr, r6; smlad r10, r3, lr, r10; smlad r7, r2, r12, r7;
smlad r11, r3, r12, r11; subs sp, sp, #1"""


@pytest.mark.parametrize(
    "core, loop, end, stated",
    [
        ("cortex-m55", TOGETHER, "le lr, 0x100", (20, 20)),
        ("cortex-m55", BETWEEN, "le lr, 0x100", (16, 16)),
        # SLOTHY: 16, because M7 need not write results in order.
        ("cortex-m7", PAIRS, "bne 0x100", (9, 19)),
    ],
    ids=["m55-together", "m55-between", "m7-pairs"],
)
def test_a_round_of_a_loop_takes_what_llvm_says(tools, core, loop, end, stated):
    """By llvm-mca 19; SLOTHY 0.2.2 says the same of the loops for M55."""
    instructions = [i.strip().replace(" ", "\t", 1) for i in [*loop.split(";"), end]]
    report = f"begin 0\nblock 1 100 {len(instructions)}\nstep 0 1 1\nstep 1 1 999\nend {1000 * len(instructions)}\n"
    listed = Listed(tools.mca, tools.objdump, tools.version, listing(0x100, *instructions))
    found = priced(report, pathlib.Path("image.elf"), core, CORE_MODELS[core], listed)
    ((least, most),) = (region.cycles for region in regions.parse(found.regions).regions)
    assert 1000 * stated[0] <= least < 1000 * stated[0] + 20
    assert 1000 * stated[1] <= most < 1000 * stated[1] + 20
    assert found.unknown == {}


def test_an_image_has_cycles_in_the_same_regions(tools):
    """Those that the usual plugin counts, nested as they are."""
    job = struct.pack("<4sIII", b"TEST", NESTED, 0, 0)
    found = cycles.run_with_cycles(IMAGE, job=job)
    elf = Elf(IMAGE)
    plain = qemu.create().run(elf, simulator.board_of(elf), job, 60, True)
    assert found.status == plain.status == "exit", found.explain()
    assert found.total_instructions == plain.total_instructions and found.cycle_model == f"LLVM {tools.version}"

    def shape(found):
        return [(region.begin, region.end, shape(region.children)) for region in found]

    assert shape(found.regions) == shape(plain.regions) != []
    assert all(0 < r.cycles[0] <= r.cycles[1] < 10 * r.instructions for r in found.regions)
