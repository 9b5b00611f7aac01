"""How many instructions kernels would take for weights in forms that are not built: FORMS.

The counts are those of the loops in the comments, which nobody has written: what surrounds the loops is left out. They
decide whether a form is worth a kernel, which then has to be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Windows that a loop over convolutions computes together: as many sums as registers are left for.
WINDOWS = 4


@dataclass(frozen=True)
class Dense:
    """Instructions for a product of int8 in the inner loop that the compiler takes for most layers."""

    row: float  # of linear layers
    window: float  # of convolutions


# runtime/kernels/tuned/README.md counts these loops: 64 products take 65 and 51 instructions with the weights of two
# channels in 16 bits, and 128 take 19 and 14 with MVE.
DENSE: Mapping[str, Dense] = {"cortex-m4": Dense(65 / 64, 51 / 64), "cortex-m55": Dense(19 / 128, 14 / 128)}


@dataclass(frozen=True)
class Loop:
    """Instructions of one form on a core. An entry is a weight that is stored; `weight` is for each that the layer has,
    stored or not."""

    weight: float
    row: float  # for an entry and one row of inputs
    windows: float  # for an entry and WINDOWS windows
    decode_weight: float
    decode_entry: float  # to write them to scratch memory as the kernels that there are read them

    def of_row(self, density: float) -> float:
        """Returns the instructions a product of the layer, if `density` of the weights is stored."""
        return self.weight + self.row * density

    def of_window(self, density: float) -> float:
        return (self.weight + self.windows * density) / WINDOWS

    def decode(self, density: float) -> float:
        """Returns the instructions a weight."""
        return self.decode_weight + self.decode_entry * density


# With DSP. Inputs of four windows lie together as int16, 8 bytes for each element, so that LDRD loads an element of all
# of them, and SMLABB, SMLATB and so on multiply it. What is decoded for the kernels that there are has two channels in
# 16 bits: two LDR, four SXTB16, two ADD with a shift and an STRD make that of four weights of each; SUBS and BNE end
# a loop over 16.
_JOIN = 9 / 8 + 2 / 16
_CLEAR = 1 / 8  # STRD of zeros

_BITMAP_M4 = Loop(
    # Each word: LDR bits; CBZ; ADD base, #32; SUBS; BNE.
    weight=5 / 32,
    # CLZ i, bits; LDRSB w, [values], #1; LSR t, top, i; BICS bits, t; BNE; and LDRSB x, [base, i]; MLA.
    row=5 + 2,
    # In the place of the last two: ADD p, base, i, LSL #3; LDRD; four SMLA.
    windows=5 + 2 + 4,
    decode_weight=5 / 32 + _CLEAR + _JOIN,
    decode_entry=5 + 1,  # STRB w, [base, i]
)
_GAPS_M4 = Loop(
    weight=0,
    # Eight: LDR gaps; two LDR and four SXTB16 of values; SUBS; BNE. Each: UBFX gap; ADD p, gap; LDRSB x, [p]; SMLA.
    row=9 / 8 + 4,
    # Each: UBFX gap; ADD p, p, gap, LSL #3; LDRD; four SMLA.
    windows=9 / 8 + 3 + 4,
    decode_weight=_CLEAR + _JOIN,
    # Eight: LDR gaps; SUBS; BNE. Each: UBFX gap; ADD p, gap; LDRSB w, [values], #1; STRB w, [p].
    decode_entry=3 / 8 + 4,
)
_OFFSETS_M4 = Loop(
    weight=0,
    # Eight: two LDR and four SXTB16 of values; SUBS; BNE. Each: LDRB o, [offsets], #1; LDRSB x, [base, o]; SMLA.
    row=8 / 8 + 3,
    # Each: LDRB o; ADD p, base, o, LSL #3; LDRD; four SMLA.
    windows=8 / 8 + 3 + 4,
    decode_weight=_CLEAR + _JOIN,
    # Each: LDRB o; LDRSB w; STRB w, [base, o]; SUBS and BNE of eight.
    decode_entry=3 + 2 / 8,
)
_TWO_OF_FOUR_M4 = Loop(
    # A group of four: ADD p, #4. Eight groups: LDR indices; SUBS; BNE.
    weight=(1 + 3 / 8) / 4,
    # UBFX i; LDRSB x, [p, i]; SMLA; and of four values an LDR and two SXTB16.
    row=3 + 3 / 4,
    # UBFX i; ADD t, p, i, LSL #3; LDRD; four SMLA.
    windows=3 + 4 + 3 / 4,
    decode_weight=(1 + 3 / 8) / 4 + _CLEAR + _JOIN,
    decode_entry=3,  # UBFX i; LDRSB w, [values], #1; STRB w, [p, i]
)
_BLOCKS_M4 = Loop(
    weight=0,
    # A block: LDRB gap, [gaps], #1; ADD p, p, gap, LSL #3; LDR and two SXTB16 of its weights; LDRD of four inputs,
    # which are int16; two SMLAD. SUBS and BNE of four blocks.
    row=(5 + 3 + 2 / 4) / 4,
    # LDRD and two SMLAD for each window.
    windows=(5 + 3 * WINDOWS + 2 / 4) / 4,
    decode_weight=_CLEAR + _JOIN,
    decode_entry=(4 + 2 / 4) / 4,  # LDRB gap; ADD p; LDR; STR
)
_PALETTE_16_M4 = Loop(
    weight=0,
    # Eight: LDR indices; SUBS; BNE. Each: UBFX i; LDRSB w, [palette, i]; SMLA; and of four inputs an LDR and two
    # SXTB16.
    row=3 / 8 + 3 + 3 / 4,
    # UBFX i; LDRSB w, [palette, i]; LDRD of inputs; four SMLA.
    windows=3 / 8 + 3 + 4,
    decode_weight=_JOIN,
    # UBFX i; LDRB w, [palette, i]; ORR of three in four; STR of four.
    decode_entry=3 / 8 + 3,
)
_PALETTE_4_M4 = Loop(
    # As before with 16 indices a word.
    weight=0,
    row=3 / 16 + 3 + 3 / 4,
    windows=3 / 16 + 3 + 4,
    decode_weight=_JOIN,
    decode_entry=3 / 16 + 3,
)
_PALETTE_2_M4 = Loop(
    weight=0,
    # The sum is that of all inputs times the first value, once a row, and that of the inputs with the second one times
    # the difference. Four: LSL and MSR APSR_g of four bits; LDR; SEL x, x, zeros; USADA8. 32: LDR bits; SUBS; BNE.
    row=5 / 4 + 3 / 32,
    windows=(2 + 3 * WINDOWS) / 4 + 3 / 32,  # LDR, SEL and USADA8 for each window
    decode_weight=_JOIN,
    decode_entry=4 / 4 + 3 / 32,  # LSL; MSR; SEL of both values; STR
)

# With MVE a vector has 16 weights, and LE ends a loop. What has no vector form takes the instructions above.
_CLEAR_MVE = 1 / 16

_BITMAP_M55 = Loop(5 / 32, _BITMAP_M4.row, _BITMAP_M4.windows, 5 / 32 + _CLEAR_MVE, 6)  # MVE has no load that expands
_GAPS_M55 = Loop(0, _GAPS_M4.row, _GAPS_M4.windows, _CLEAR_MVE, 3 / 8 + 4)  # and no running sum of gaps
_OFFSETS_M55 = Loop(
    weight=0,
    # VLDRB offsets; VLDRB values; VLDRB x, [base, offsets]; VMLADAVA; LE.
    row=5 / 16,
    windows=(3 + 2 * WINDOWS) / 16,
    decode_weight=_CLEAR_MVE,
    decode_entry=4 / 16,  # VLDRB offsets; VLDRB values; VSTRB [base, offsets]; LE
)
_TWO_OF_FOUR_M55 = Loop(
    weight=0,
    # 16 entries: VLDRB of four bytes, each four times; VSHL by 0, -2, -4 and -6; VAND 3; VADD of 0, 0, 4, 4 ...; VLDRB
    # values; ADD indices, #4; LE; and for each window VLDRB x, [base, offsets]; VMLADAVA; ADD base, #32.
    row=(7 + 3) / 16,
    windows=(7 + 3 * WINDOWS) / 16,
    decode_weight=_CLEAR_MVE,
    decode_entry=(7 + 2) / 16,  # VSTRB [base, offsets]; ADD base, #32
)
_BLOCKS_M55 = Loop(
    weight=0,
    # Four blocks: VLDRB.U32 of their indices; VLDRB values; VLDRW x, [base, indices, UXTW #2]; VMLADAVA; LE.
    row=5 / 16,
    windows=(3 + 2 * WINDOWS) / 16,
    decode_weight=_CLEAR_MVE,
    decode_entry=4 / 16,  # VLDRB.U32 indices; VLDRB values; VSTRW [base, indices, UXTW #2]; LE
)
_PALETTE_16_M55 = Loop(
    weight=0,
    # 32: VLDRB; VAND; VSHR; two VLDRB [palette, indices]; LE; and for each window two VLDRB and two VMLADAVA.
    row=(6 + 4) / 32,
    windows=(6 + 4 * WINDOWS) / 32,
    decode_weight=0,
    decode_entry=(6 + 2) / 32,  # two VSTRB
)
_PALETTE_4_M55 = Loop(
    weight=0,
    # 64: VLDRB; three VSHR; three VAND; four VLDRB [palette, indices]; LE; and for each window four VLDRB and VMLADAVA.
    row=(12 + 8) / 64,
    windows=(12 + 8 * WINDOWS) / 64,
    decode_weight=0,
    decode_entry=(12 + 4) / 64,
)
_PALETTE_2_M55 = Loop(
    weight=0,
    # Sums as with DSP. LDRH; VMSR P0; LE; and VLDRB x for each window, one VPST, and VADDVAT for each window.
    row=(3 + 3) / 16,
    windows=(3 + 1 + 2 * WINDOWS) / 16,
    decode_weight=0,
    decode_entry=5 / 16,  # LDRH; VMSR; VPSEL; VSTRB; LE
)

# By form and core.
FORMS: Mapping[str, Mapping[str, Loop]] = {
    "bitmap": {"cortex-m4": _BITMAP_M4, "cortex-m55": _BITMAP_M55},
    "gaps": {"cortex-m4": _GAPS_M4, "cortex-m55": _GAPS_M55},
    "offsets": {"cortex-m4": _OFFSETS_M4, "cortex-m55": _OFFSETS_M55},
    "two of four": {"cortex-m4": _TWO_OF_FOUR_M4, "cortex-m55": _TWO_OF_FOUR_M55},
    "blocks": {"cortex-m4": _BLOCKS_M4, "cortex-m55": _BLOCKS_M55},
    "palette of 16": {"cortex-m4": _PALETTE_16_M4, "cortex-m55": _PALETTE_16_M55},
    "palette of 4": {"cortex-m4": _PALETTE_4_M4, "cortex-m55": _PALETTE_4_M55},
    "palette of 2": {"cortex-m4": _PALETTE_2_M4, "cortex-m55": _PALETTE_2_M55},
}


@dataclass(frozen=True)
class Layer:
    """A layer whose weights are each multiplied with `windows` inputs: pixels of the output, or rows."""

    weights: int
    windows: int

    def change(self, form: str, core: str, density: float) -> tuple[float, int]:
        """Returns how many instructions more than dense weights take this form does, with `density` entries a weight:
        in a kernel for it, or decoded to scratch memory once an inference, whichever takes fewer; and the bytes of this
        memory."""
        dense, loop, products = DENSE[core], FORMS[form][core], self.weights * self.windows
        one = self.windows == 1
        kernel = (loop.of_row(density) - dense.row) if one else (loop.of_window(density) - dense.window)
        return min((products * kernel, 0), (self.weights * loop.decode(density), self.weights))


def break_even(form: str, core: str) -> tuple[float, float]:
    """Returns below which density a kernel takes fewer instructions than dense weights: of rows, and of windows. 0 if
    it never does."""
    dense, loop = DENSE[core], FORMS[form][core]
    limits = (dense.row - loop.weight) / loop.row, (dense.window * WINDOWS - loop.weight) / loop.windows
    return max(limits[0], 0), max(limits[1], 0)
