"""This project next to other systems, as Markdown: `render`."""

from __future__ import annotations

from typing import Optional

from benchmarks import boards, cycles
from benchmarks.anchors import STREAMING, Anchors
from benchmarks.markdown import COMMAND, cores
from benchmarks.measure import Measurement
from benchmarks.results import Results
from benchmarks.text import listed, millions, table, total

_DIRECT = "CMSIS-NN called directly"
_M4 = "cortex-m4"


def render(results: Results, anchors: Anchors) -> str:
    """Returns the document."""
    parts = [_head(), _factors(results, anchors), _beside_others(results, anchors), _modelled(results, anchors)]
    parts.append(_modelled_by_llvm(results, anchors))
    return "\n".join([*(part for part in parts if part), _published(anchors)])


def _head() -> str:
    return "\n".join(
        [
            f"<!-- Written by `{COMMAND}`. Do not edit. -->",
            "# Comparison with other systems",
            "The trained networks of MLPerf Tiny, on the same simulated cores and with the same compiler, where",
            "instructions are counted exactly; and cycles of boards, as others have published them.",
            "[Benchmarks](benchmarks.md) has the environment, more networks and each call. Outputs of this project",
            "are compared with the integer reference: no byte differs. Accuracy and power of other systems are not",
            "measured.",
            "",
        ]
    )


def _factors(results: Results, anchors: Anchors) -> str:
    """Returns by how much other systems exceed what the compiler takes by default."""
    systems = [_DIRECT, *anchors.about_counted]
    rows = []
    for m in _ours(results, anchors, "tuned"):
        here = (m.core, m.network)
        counted = {e.system: (e.inference, e.ram) for e in anchors.counted if (e.core, e.network) == here}
        for direct in results.direct:
            if (direct.core, direct.network) == here:
                counted[_DIRECT] = (direct.inference, direct.arena)
        found = [counted.get(system) for system in systems]
        factors = [f"{entry[0] / m.inference:.2f}" if entry else "-" for entry in found]
        ram = [f"{entry[1] / m.arena:.2f}" if entry else "-" for entry in found]
        rows.append([m.network, m.core, *factors, *ram])
    if not rows:
        return ""
    titles = ["network", "core", *(f"instructions, {s}" for s in systems), *(f"RAM, {s}" for s in systems)]
    return "\n".join(
        [
            "## How many times what this project takes",
            "Instructions of an inference, and RAM, divided by those of this project with its tuned kernels and",
            "default options. The RAM of ExecuTorch and TFLM includes their own objects; that of this project is its",
            "arena, beside which an image takes [at most 1.2 KB](sizes.md), stack included. With 768 bytes of arena",
            "for the autoencoder, its factors say how large these objects are.",
            "",
            *table(titles, rows),
            "",
        ]
    )


def _ours(results: Results, anchors: Anchors, providers: str) -> list[Measurement]:
    """Returns the measurements of the networks that other systems have figures of, by core."""
    found = [m for m in results.measurements if m.providers == providers and m.network in anchors.networks]
    known = {entry.core for entry in anchors.counted}
    return [m for core in cores(found) if core in known for m in found if m.core == core]


def _modelled(results: Results, anchors: Anchors) -> str:
    """Returns the modelled cycles of a Cortex-M4 next to the published ones of this core."""
    systems = list(dict.fromkeys(entry.system for entry in anchors.published if entry.core == _M4))
    rows = [
        [
            m.network,
            millions(total(m.cycles, m.code_waits)),
            millions(total(m.cycles, m.flash_waits)),
            *(_cycles(anchors, system, _M4, m.network) for system in systems),
        ]
        for m in results.measurements
        if m.network in (*anchors.networks, STREAMING) and m.providers == "tuned" and m.core == _M4 and m.cycles
    ]
    if not rows:
        return ""
    return "\n".join(
        [
            "## Cycles of a Cortex-M4, millions: modelled here, published by others",
            "The least and the most that the timings in Arm's manual allow, with the flash of an STM32L4R5 at 120 MHz:",
            "[benchmarks](benchmarks.md) says how.",
            "The published figures are of boards with such a chip. Of streaming_wakeword a window is computed anew;",
            "[a model that streams](streaming_networks.md) computes what a new frame changes.",
            f"{boards.sentence(boards.load())}.",
            in_flash(results, anchors),
            "",
            *table(["network", "tuned, payload in RAM", "tuned, payload in flash", *systems], rows),
            "",
        ]
    )


def in_flash(results: Results, anchors: Anchors) -> str:
    """Returns where cycles with the payload in flash may be more than X-CUBE-AI's, "" if they are not."""
    behind = []
    for m in results.measurements:
        cycles_in_flash = total(m.cycles, m.flash_waits)
        theirs = [
            e.megacycles for e in anchors.published if (e.core, e.network) == (_M4, m.network) and _is_st(e.system)
        ]
        if (m.core, m.providers) == (_M4, "tuned") and cycles_in_flash and theirs:
            least, most = (each / 1e6 for each in cycles_in_flash)
            if most > min(theirs):
                where = "all of its range" if least > min(theirs) else "the upper end of its range"
                behind.append(f"{m.network} ({where}: {most:.2f} against {min(theirs):.2f} million)")
    if not behind:
        return ""
    return f"With the payload in flash, this project is behind X-CUBE-AI's published cycles on M4 in {listed(behind)}."


def _is_st(system: str) -> bool:
    return system.startswith("X-CUBE-AI")


def _modelled_by_llvm(results: Results, anchors: Anchors) -> str:
    """Returns the modelled cycles of the cores that LLVM describes next to the published ones of these cores."""
    rows = [
        [m.network, m.core, millions(m.cycles), entry.system, f"{entry.megacycles:.2f}"]
        for m in results.modelled
        if m.providers == "tuned"
        for entry in anchors.published
        if (entry.core, entry.network) == (m.core, m.network)
    ]
    if not rows:
        return ""
    return "\n".join(
        [
            "## Cycles of other cores, millions: modelled here, published by others",
            "The least and the most by LLVM's models of these cores, for memories without wait states; the boards had",
            "flash and caches. [Benchmarks](benchmarks.md#cycles-by-llvms-models-millions) says how. As far as boards",
            "are known:",
            *cycles.sentences(results.modelled, cycles.load()),
            "",
            *table(["network", "core", "tuned, modelled", "system", "published"], rows),
            "",
        ]
    )


def _beside_others(results: Results, anchors: Anchors) -> str:
    lines = [
        "## Other systems, counted in the same simulator",
        "The rows of this project and of direct calls are measured now. Those of other systems were counted once, with",
        "the same trained networks, compiler and simulator, and do not change. RAM is what each system says that it",
        "takes without the stack; for this project and for direct calls it is the arena. With trained weights this",
        "project leaves out channels that are constant, unread or equal to others, which the others compute: half of",
        "the 7,489,664 multiplications of mobilenet_v1_025.",
        "",
    ]
    for core in cores(results.measurements):
        others = [entry for entry in anchors.counted if entry.core == core]
        ours = [m for m in results.measurements if m.core == core and m.network in anchors.networks]
        if not others or not ours:
            continue
        rows = []
        for name in anchors.networks:
            direct = next((e for e in results.direct if (e.core, e.network) == (core, name)), None)
            base = direct and direct.inference
            for m in ours:
                if m.network == name:
                    title = f"**this project, {m.providers}**" + (", random weights" if m.weights == "random" else "")
                    rows.append([name, title, _init(m.init), *_compared(m.inference, base), f"{m.arena:,}"])
            if direct and any(m.network == name for m in ours):
                rows.append([name, _DIRECT, "-", *_compared(base, base), f"{direct.arena:,}"])
            rows += [
                [name, e.system, _init(e.init), *_compared(e.inference, base), f"{e.ram:,}"]
                for e in others
                if e.network == name and any(m.network == name for m in ours)
            ]
        titles = ["network", "system", "init", "inference", "of direct calls", "RAM"]
        lines += [f"### {core}", *table(titles, rows), ""]
    lines.append(
        f"- {_DIRECT}: one call of CMSIS-NN a layer in plain C, linear weights per tensor, random weights; see "
        "[benchmarks/direct](../benchmarks/direct/README.md). Measured now."
    )
    lines += [f"- {system}: {about}" for system, about in anchors.about_counted.items()]
    return "\n".join(lines) + "\n"


def _published(anchors: Anchors) -> str:
    systems = dict.fromkeys((entry.system, entry.core) for entry in anchors.published)
    rows = [
        [system, core, *(_cycles(anchors, system, core, name) for name in (*anchors.networks, STREAMING))]
        for system, core in systems
    ]
    return "\n".join(
        [
            "## Published by others: millions of cycles",
            "For orientation only. These are cycles of real boards. Executed instructions cannot be compared with",
            "them: an instruction of a Cortex-M4 takes one cycle or more, and an M7 or M85 can begin two in a",
            "cycle.",
            "",
            *table(["system", "core", *anchors.networks, STREAMING], rows),
            "",
            anchors.about_published,
            "",
        ]
    )


def _compared(inference: int, direct: Optional[int]) -> tuple[str, str]:
    return f"{inference:,}", f"{100 * inference / direct:.1f} %" if direct else "-"


def _init(count: Optional[int]) -> str:
    return "-" if count is None else f"{count:,}"


def _cycles(anchors: Anchors, system: str, core: str, network: str) -> str:
    found = (e.megacycles for e in anchors.published if (e.system, e.core, e.network) == (system, core, network))
    return next((f"{megacycles:.2f}" for megacycles in found), "-")
