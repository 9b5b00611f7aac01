"""The part of docs/benchmarks.md about pruned weights and palettes: `section`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

from benchmarks import decoding
from benchmarks.results import Results
from benchmarks.sparse import FOUR_BITS, KEPT, PALETTES, Sparse
from benchmarks.text import table

_ANYWHERE = ("bitmap", "gaps", "offsets")  # forms of weights that are pruned anywhere
_HALF, _QUARTER, _TENTH = KEPT

# What stands above a column, and which of a network's forms: the smallest of those with this part of the weights.
_COLUMNS: Mapping[str, tuple[Sequence[str], float]] = {
    **{f"{_pruned} pruned": (_ANYWHERE, _kept) for _kept in KEPT for _pruned in (f"{100 - 100 * _kept:.0f} %",)},
    "2 of 4": (("two of four",), 0.5),
    **{f"blocks, {100 - 100 * _kept:.0f} %": (("blocks",), _kept) for _kept in KEPT},
    **{f"{_count} values": ((f"palette of {_count}",), 1) for _count in PALETTES},
}


def smallest(sparse: Sequence[Sparse], network: str) -> dict[str, Sparse]:
    """Returns what stands in each column of a network."""
    found = {}
    for title, (forms, kept) in _COLUMNS.items():
        chosen = [s for s in sparse if s.network == network and s.form in forms and s.kept == kept]
        found[title] = min(chosen, key=lambda s: s.nbytes)
    return found


def section(results: Results, networks: Sequence[str]) -> str:
    """Returns the part; "" if nothing was measured. `networks` are those that its text is about."""
    networks = [name for name in networks if name in _networks(results)]
    if not networks:
        return ""
    return "\n".join(
        [
            "## What pruned weights and palettes would take",
            "Pruned weights keep their bytes: no kernel skips zeros, and no format leaves them out. Here is what such",
            "formats would take, to decide whether they are worth kernels. The weights are those of int8. Of each",
            "convolution and linear layer, without depthwise ones, those of least magnitude were set to 0: anywhere,",
            "two of each four inputs of a channel, or in blocks of 1 x 4 inputs. Nothing was trained again, and",
            "nothing is said about the results of such networks. A layer that no form makes smaller keeps int8.",
            "",
            "- *Pruned* anywhere: a bit for each weight and a byte for each that is left (bitmap), or a byte and four",
            "  bits for the zeros before it (gaps), or a byte and one for its place (offsets). Columns have the",
            f"  smallest of these: {_forms(results.sparse)}.",
            "- *2 of 4*: two bytes and two bits for the place of each.",
            "- *Blocks*: four bytes and one for the blocks before it.",
            "- *Values*: indices into a palette of 16, 4 or 2 values for each channel, by k-means.",
            "- *w4*: weights of four bits, which are built, with a step for each channel. What belongs to channels, as",
            "  their biases, is left out everywhere. Weights that pruning leaves could have four bits too.",
            "",
            *_conclusion(results, networks),
            "",
            "Bytes, in parts of those of int8:",
            "",
            *_table(results, _networks(results), lambda s, w: f"{100 * s.nbytes / w:.1f} %"),
            "",
            "How exact weights are, as their signal to noise ratio in dB, of which noise is the mean of layers:",
            "",
            *_table(results, networks, lambda s, _: f"{s.sqnr:.1f}"),
            "",
            *_loops(),
            "",
            *_estimates(results),
            "",
        ]
    )


def _networks(results: Results) -> list[str]:
    return list(dict.fromkeys(s.network for s in results.sparse))


def _forms(sparse: Sequence[Sparse]) -> str:
    """Returns which of the forms is the smallest, for each part that is pruned."""
    networks = dict.fromkeys(s.network for s in sparse)
    parts = []
    for title in list(_COLUMNS)[: len(KEPT)]:
        names = sorted({smallest(sparse, network)[title].form for network in networks})
        parts.append(f"{' or '.join(names)} with {title}")
    return ", ".join(parts)


def _sizes(results: Results, title: str, networks: Sequence[str]) -> str:
    """Returns the parts of int8 that a column has, from the least to the most."""
    of_int8 = {w.network: w.nbytes for w in results.weights}
    parts = [100 * _cells(results, network)[title].nbytes / of_int8[network] for network in networks]
    return f"{_range(parts)} %"


def _noise(results: Results, title: str, networks: Sequence[str]) -> str:
    found = [_cells(results, network)[title].sqnr for network in networks]
    return f"{_range(found)} dB"


def _range(found: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(f"{end:.0f}" for end in (min(found), max(found))))


def _gone(form: str, *cores: str) -> str:
    """Returns which part of the weights has to be gone, so that the form pays in all layers on these cores or all."""
    limits = [limit for core in cores or decoding.DENSE for limit in decoding.break_even(form, core)]
    return f"{100 - 100 * min(limits):.0f} %"


def _cells(results: Results, network: str) -> dict[str, Sparse]:
    of_network = [s for s in results.sparse if s.network == network]
    return {"w4": next(s for s in of_network if s.form == FOUR_BITS), **smallest(of_network, network)}


def _conclusion(results: Results, networks: Sequence[str]) -> list[str]:
    def sizes(title: str) -> str:
        return _sizes(results, title, networks)

    def noise(title: str) -> str:
        return _noise(results, title, networks)

    bullets = [
        f"With half of the weights gone, no form beats w4: {sizes('50 % pruned')} for weights pruned anywhere, "
        f"{sizes('2 of 4')} for 2 of 4 and {sizes('blocks, 50 %')} for blocks, next to {sizes('w4')}. And w4 is more "
        f"exact, without training: {noise('w4')}, next to {noise('50 % pruned')}, {noise('2 of 4')} and "
        f"{noise('blocks, 50 %')}. So 2 of 4, which has no more zeros than that, is never the better choice.",
        f"With three quarters gone there is something to gain: {sizes('75 % pruned')} anywhere and "
        f"{sizes('blocks, 75 %')} in blocks; with nine tenths {sizes('90 % pruned')} and {sizes('blocks, 90 %')}. But "
        "only training makes networks that still work then, and no network here has come with such weights: the table "
        "above has their zeros. Channels that are pruned as a whole need no form: the compiler removes them.",
        "With three quarters gone, blocks are the only form smaller than w4 that also takes fewer instructions on both "
        f"cores, in linear layers and in convolutions: they pay once {_gone('blocks')} of the weights are gone. Gaps "
        f"need {_gone('gaps', 'cortex-m4')} on a Cortex-M4 and {_gone('gaps', 'cortex-m55')} on a Cortex-M55, where "
        "gaps and bitmaps have no vector instructions. Offsets have gather loads there and pay as blocks do, but with "
        "three quarters gone they are no smaller than w4. 2 of 4 never pays, nor does any palette.",
        "Convolutions may decode any form to scratch memory once an inference. That is memory for all weights of a "
        "layer, which the last two columns below have next to the arena of today.",
        f"A palette of 16 values takes {sizes('16 values')}, more than w4, because each channel has a table; it is "
        f"more exact ({noise('16 values')}) and has to look up each weight. Palettes of 4 and 2 values take "
        f"{sizes('4 values')} and {sizes('2 values')}, with {noise('4 values')} and {noise('2 values')}: only a "
        "network that was trained with them could use them. They would be chosen only where flash is short, never for "
        "speed.",
    ]
    wrapped = (textwrap.wrap(f"- {line}", 110, subsequent_indent="  ") for line in bullets)
    return [
        "**None of these forms is built**, for these reasons; ranges are those of the trained networks.",
        "",
        *(line for lines in wrapped for line in lines),
        "",
        "What would change that is a trained network with three quarters of its blocks of 1 x 4 gone, or one with",
        "palettes of 4 values. Blocks are the form to build first then: with a kernel for linear layers, and one for",
        "convolutions that multiplies a block with several windows.",
    ]


def _table(results: Results, networks: Sequence[str], cell: Callable[[Sparse, int], str]) -> list[str]:
    of_int8 = {w.network: w for w in results.weights}
    rows = []
    for network in networks:
        weights = of_int8[network]
        cells = _cells(results, network).values()
        rows.append(
            [network, weights.weights, f"{weights.nbytes:,}", *(cell(entry, weights.nbytes) for entry in cells)]
        )
    return list(table(["network", "weights", "int8, bytes", "w4", *_COLUMNS], rows))


def _loops() -> list[str]:
    """Returns the inner loops, which are the same for all networks."""
    rows = []
    for core, dense in decoding.DENSE.items():
        rows.append(["int8, built", core, f"{dense.row:.2f}", "", f"{dense.window:.2f}", "", ""])
        for form, loops in decoding.FORMS.items():
            loop = loops[core]
            below = decoding.break_even(form, core)
            if form.startswith("palette") or form == "two of four":
                density = 1 if form.startswith("palette") else 0.5
                found = [f"{loop.of_row(density):.2f}", "", f"{loop.of_window(density):.2f}", ""]
                decode = f"{loop.decode(density):.2f}"
            else:
                found = []
                weights = (loop.weight, loop.row), (loop.weight / decoding.WINDOWS, loop.windows / decoding.WINDOWS)
                for (weight, entry), limit in zip(weights, below):
                    found += [_linear(weight, entry), f"{100 * limit:.0f} %" if limit else "never"]
                decode = _linear(loop.decode_weight, loop.decode_entry)
            rows.append([form, core, *found, decode])
    titles = ["form", "core", "a product of a linear layer", "pays below", "a product of a convolution", "pays below"]
    return [
        "Instructions a product in the inner loops, d being the part of the weights that are stored, and below which d",
        "they are fewer than those of int8. The loops are written down in",
        "[benchmarks/decoding.py](../benchmarks/decoding.py) and were not run. The last column is what a weight takes",
        "that is decoded to scratch memory for the kernels of int8. With MVE, gather loads count as one instruction",
        "like others, though memories may take their elements one by one.",
        "",
        *table([*titles, "decoded, a weight"], rows),
    ]


def _linear(constant: float, factor: float) -> str:
    return f"{constant:.2f} + {factor:.2f} d" if constant else f"{factor:.2f} d"


def _estimates(results: Results) -> list[str]:
    """Returns what whole networks would take, in parts of what they take with int8."""
    tuned = {(m.network, m.core): m for m in results.measurements if m.providers == "tuned"}
    measured = {(f.network, f.core, f.format): f.inference for f in results.formats}
    rows = []
    for core in decoding.DENSE:
        for network in _networks(results):
            if (network, core) not in tuned:
                continue
            inference = tuned[network, core].inference
            ours = [measured.get((network, core, name)) for name in ("w4", "int8")]
            w4 = f"{ours[0] / ours[1]:.2f}" if ours[0] and ours[1] else "-"
            chosen = list(smallest(results.sparse, network).values())
            rows.append(
                [network, core, f"{inference:,}", w4]
                + [f"{1 + s.instructions[core] / inference:.2f}" for s in chosen]
                + [f"{max(s.scratch[core] for s in chosen):,}", f"{tuned[network, core].arena:,}"]
            )
    if not rows:
        return []
    titles = ["network", "core", "int8", "w4", *_COLUMNS, "scratch, at most", "arena"]
    return [
        "What that makes of an inference, in parts of the instructions of int8. Those of int8 and w4 are measured, and",
        "the others are estimates by the loops above. Each layer takes the form as it is or decodes it, whichever",
        "takes fewer instructions; scratch memory is that of the largest layer that is decoded.",
        "",
        *table(titles, rows),
    ]
