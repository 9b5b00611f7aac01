"""What llvm-mca gets to read of an image, and what of an instruction its models do not say."""

import pytest

from sim.listing import Listing

LISTING = Listing(
    """
image.elf:	file format elf32-littlearm

00000100 <function>:
     100:      	push.w	{r4, r5, r6, r7, r8, lr}
     104:      	cbz	r0, 0x120 <function+0x20> @ imm = #0x18
     106:      	ldr	r3, [pc, #0x1c]         @ 0x124 <function+0x24>
     108:      	dlstp.8	lr, r3
     10c:      	vpste
     110:      	vldrbt.u8	q0, [r1], #16
     114:      	vldrbe.u8	q1, [r2], #16
     118:      	letp	lr, 0x10c <function+0xc> @ imm = #-0x10
     11c:      	bl	0x200 <other>           @ imm = #0xe0
     120:      	itt	eq
     122:      	moveq	r0, #0x1
     124:      	popeq	{r4, pc}
     126:      	vpush	{d8, d9, d10}
     12a:      	beq.w	0x100 <function>        @ imm = #-0x2e
     12e: 01 00 00 00  	.word	0x00000001
     132:      	ldrd	r2, r3, [r0], #8
     136:      	vpt.i8	eq, q0, q1
     13a:      	vaddt.i8	q0, q0, q1
     13e:      	<unknown>
"""
)


def test_branches_go_elsewhere_and_loops_are_the_models_own():
    texts = [instruction.text for instruction in LISTING.block(0x100, 9)]
    assert texts == [
        "push.w {r4, r5, r6, r7, r8, lr}",
        "cbz r0, .Lelsewhere",
        "ldr r3, [pc, #0x1c]",
        "mov.w lr, r3",
        "vpste",
        "vldrbt.u8 q0, [r1], #16",
        "vldrbe.u8 q1, [r2], #16",
        "",
        "b .Lelsewhere",
    ]
    assert LISTING.block(0x12A, 1)[0].text == "beq.w .Lelsewhere"
    assert [i.ends_loop for i in LISTING.block(0x114, 3)] == [False, True, False]


@pytest.mark.parametrize("address, words", [(0x100, 6), (0x104, 0), (0x124, 2), (0x126, 6), (0x132, 2)])
def test_words_of_several_registers(address, words):
    assert LISTING.block(address, 1)[0].words == words


def test_returns_are_computed_addresses():
    assert [i.is_indirect for i in LISTING.block(0x120, 4)] == [False, False, True, False]


def test_a_block_that_begins_on_a_condition_knows_whose():
    assert [i.mnemonic for i in LISTING.opened_before(0x114)] == ["vpste", "vldrbt.u8"]
    assert [i.mnemonic for i in LISTING.opened_before(0x13A)] == ["vpt.i8"]
    assert LISTING.opened_before(0x118) == [] and LISTING.opened_before(0x100) == []
    opener = LISTING.block(0x10C, 1)[0]
    assert [opener.covering(count) for count in (0, 1, 2)] == ["", "vpst", "vpste"]
    assert LISTING.block(0x136, 1)[0].covering(1) == "vpt.i8 eq, q0, q1"


def test_what_is_no_instruction_stays_what_it_is():
    assert [i.text for i in LISTING.block(0x13A, 2)] == ["vaddt.i8 q0, q0, q1", "<unknown>"]


def test_what_the_image_does_not_contain_is_refused():
    with pytest.raises(ValueError, match="no 1 instructions from 0x102 on"):
        LISTING.block(0x102, 1)
    with pytest.raises(ValueError, match="no 4 instructions from 0x136 on"):
        LISTING.block(0x136, 4)
