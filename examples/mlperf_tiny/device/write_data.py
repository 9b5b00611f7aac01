"""Writes data of a benchmark.

    write_data.py calibration NAME FILE.npz   what calibrates its network
    write_data.py dataset NAME FOLDER         FOLDER/NAME as the runner reads it
    write_data.py weights sww01 FILE.npz      the weights of its network: those in the folder of trained ones, or if
                                              there are none, such as training on made words gives

The benchmark's own data sets are not part of this project. The samples here are made for the network: inputs for which
it answers each class in turn, in float32 on a PC. So the accuracy that the runner finds says how often the quantized
network on the device gives the answer of the float network, and not how good that is. Of sww01 the folder has a wave
of made words, which the interface board plays.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import wave
from pathlib import Path

import numpy as np
import torch

from examples.mlperf_tiny.device import listener, words
from examples.mlperf_tiny.device.models import BENCHMARKS, Benchmark
from examples.mlperf_tiny.networks import STREAMING_WAKEWORD, weights_folder

OF_A_CLASS = 3  # 6 of the benchmark with 2 classes: the runner measures the speed with 5
_STEPS = 200
# The seeds of the tapes of sww01. 0 is that of training.
_CALIBRATION, _PLAYED = 1, 2
_CALIBRATION_WORDS, _CALIBRATION_WINDOWS = 20, 100
_PLAYED_WORDS = 50  # as many as the benchmark's own wave has


def write_calibration(name: str, path: Path) -> None:
    if name == "sww01":
        tape = words.tape(np.random.default_rng(_CALIBRATION), _CALIBRATION_WORDS)
        windows = listener.windows(tape.samples)
        np.savez(path, samples=windows[np.linspace(0, len(windows) - 1, _CALIBRATION_WINDOWS).astype(int)])
        return
    benchmark = BENCHMARKS[name]
    np.savez(path, input=benchmark.taken(benchmark.sent()))


def answered(benchmark: Benchmark, wanted: int, seed: int) -> np.ndarray:
    """Returns what is sent for an input to which the float network answers class `wanted`: found by gradient ascent
    from one of the inputs that come with the network. ValueError if there is none nearby."""
    module = benchmark.module().eval()
    sent = benchmark.sent()
    bounds = np.iinfo(benchmark.dtype)
    low, high = (benchmark.taken(np.full_like(sent[:1], bound)) for bound in (bounds.min, bounds.max))
    x = torch.from_numpy(benchmark.taken(sent[seed % len(sent)][None])).requires_grad_()
    optimizer = torch.optim.Adam([x], lr=float(high.max() - low.min()) / 100)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        (-torch.log(module(x)[0, wanted] + 1e-9)).backward()
        optimizer.step()
        with torch.no_grad():
            x.clamp_(torch.from_numpy(low), torch.from_numpy(high))
            numbers = np.rint(x.numpy() / np.float32(benchmark.factor)) + benchmark.zero
            numbers = numbers.clip(bounds.min, bounds.max).astype(benchmark.dtype)
            numbers = np.ascontiguousarray(numbers.transpose(0, 2, 3, 1))
            probability = module(torch.from_numpy(np.ascontiguousarray(benchmark.taken(numbers))))[0, wanted]
        if probability > 0.7:
            return numbers[0]
    raise ValueError(f"no input near those of {benchmark.network} is answered with class {wanted}")


def samples(benchmark: Benchmark) -> list[tuple[np.ndarray, int]]:
    """Returns what is sent, and the class that is right."""
    if benchmark.dtype == "float32":  # normal sounds, and the same with the features at other places
        normal = benchmark.sent()
        shuffled = np.random.default_rng(0).permuted(normal, axis=1)
        return [*((x, 0) for x in normal), *((x, 1) for x in shuffled)]
    classes = benchmark.module()(torch.from_numpy(benchmark.taken(benchmark.sent()[:1]))).shape[1]
    return [(answered(benchmark, c, seed), c) for c in range(classes) for seed in range(OF_A_CLASS)]


def write_weights(name: str, path: Path) -> None:
    if name != "sww01":
        raise ValueError(f"{name}: the weights of the others are those in the folder of trained ones, or random")
    folder = weights_folder()
    if folder is not None and (folder / STREAMING_WAKEWORD.weights).is_file():
        shutil.copyfile(folder / STREAMING_WAKEWORD.weights, path)
    else:
        np.savez(path, **listener.trained_weights())


def write_tape(tape: words.Tape, folder: Path, name: str) -> None:
    """Writes the sound, in two channels that are the same, and what is in it as the runner reads it."""
    with wave.open(str(folder / f"{name}.wav"), "wb") as file:
        file.setparams((2, 2, words.RATE, 0, "NONE", ""))
        file.writeframes(np.repeat(tape.samples.astype("<i2"), 2).tobytes())
    truth = {
        "wav_file": f"{name}.wav",
        "sample_rate": words.RATE,
        "length_sec": len(tape.samples) / words.RATE,
        "detection_windows": [[w.start / words.RATE, w.stop / words.RATE] for w in tape.words if w.wakes],
    }
    (folder / f"{name}.json").write_text(json.dumps([truth], indent=2) + "\n", encoding="utf-8")


def write_dataset(name: str, folder: Path) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    if name == "sww01":
        tape = words.tape(np.random.default_rng(_PLAYED), _PLAYED_WORDS, long_pauses=True)
        write_tape(tape, folder / name, "made_words")
        return
    benchmark = BENCHMARKS[name]
    found = samples(benchmark)
    classes = 1 + max(label for _, label in found)
    with open(folder / name / "y_labels.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        for index, (data, label) in enumerate(found):
            (folder / name / f"{index:03}.bin").write_bytes(data.tobytes())
            # For ad01 also how many bytes a window has, and how far it is to the next one.
            rows.writerow([f"{index:03}.bin", classes, label, *([data.nbytes] * 2 if name == "ad01" else [])])


def main(argv: list[str]) -> int:
    writers = {"calibration": write_calibration, "dataset": write_dataset, "weights": write_weights}
    if len(argv) != 4 or argv[1] not in writers or argv[2] not in (*BENCHMARKS, "sww01"):
        print(__doc__, file=sys.stderr)
        return 2
    writers[argv[1]](argv[2], Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), argv[3]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
