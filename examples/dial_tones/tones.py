"""The sound of dialled keys, and of what is none: synthesized, so that it is exactly known what is in it.

A key of a telephone sounds as two tones at once, one for its row and one for its column (ITU-T Recommendation Q.23).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RATE = 16000  # samples a second
KEYS = "123A456B789C*0#D"
ROWS = 697, 770, 852, 941  # Hz
COLUMNS = 1209, 1336, 1477, 1633

_OFF = 0.015  # a transmitter is at most that part off its frequencies (Q.23 allows 1.8 %)
_TWIST_DB = 4.0  # one tone of a pair may be louder than the other by so much
_LEVELS_DB = -46.0, -6.0  # of a pair or another sound: its largest sample, of the largest number
_NOISE_DB = -40.0, -3.0  # of noise, from the level of the sound around it; never below the last bit
_SOUND_S = 0.05, 0.12  # how long a key or another sound lasts
_PAUSE_S = 0.05, 0.15
_RAMP_S = 0.002  # from nothing to the whole level, and back


@dataclass(frozen=True)
class Press:
    """A key that sounds from sample `start` to before sample `stop`."""

    start: int
    stop: int
    key: int  # index of KEYS


@dataclass(frozen=True)
class Tape:
    """What the microphone hears: `samples`, (count,) int16, and the keys in it."""

    samples: np.ndarray
    presses: tuple[Press, ...]


def tape(random: np.random.Generator, keys: int, others: float = 0.35) -> Tape:
    """Returns `keys` random keys with pauses between them. A part `others` of all sounds are no keys: single tones,
    pairs that stand for none, chirps, and voices without words. Levels differ from sound to sound."""
    parts = [_pause(random)]
    noises = [_noise(random, parts[0].size, -30.0)]
    presses: list[Press] = []
    end = parts[0].size
    while len(presses) < keys:
        seconds, level = random.uniform(*_SOUND_S), random.uniform(*_LEVELS_DB)
        time = np.arange(int(seconds * RATE)) / RATE
        if random.random() < others:
            sound = _OTHERS[random.integers(len(_OTHERS))](random, time)
        else:
            key = int(random.integers(len(KEYS)))
            sound = pair(random, time, key)
            presses.append(Press(end, end + time.size, key))
        ramp = np.minimum(np.minimum(time, time[::-1]) / _RAMP_S, 1.0)
        sound = sound * ramp * (10 ** (level / 20) / np.abs(sound).max())
        pause = _pause(random)
        parts += [sound, pause]
        noises.append(_noise(random, sound.size + pause.size, level))
        end += sound.size + pause.size
    # The last bit of a converter is noise too.
    steps = (np.concatenate(parts) + np.concatenate(noises)) * 32768 + random.normal(size=end)
    return Tape(np.clip(np.rint(steps), -32768, 32767).astype(np.int16), tuple(presses))


def pair(random: np.random.Generator, time: np.ndarray, key: int) -> np.ndarray:
    """Returns the two tones of a key at `time` in seconds, each a little off and as loud as the other or not."""
    row, column = divmod(key, len(COLUMNS))
    twist = 10 ** (random.uniform(-_TWIST_DB, _TWIST_DB) / 20)
    return _tone(random, time, ROWS[row] * _drift(random)) + twist * _tone(
        random, time, COLUMNS[column] * _drift(random)
    )


def _drift(random: np.random.Generator) -> float:
    return float(1 + random.uniform(-_OFF, _OFF))


def _pause(random: np.random.Generator) -> np.ndarray:
    return np.zeros(int(random.uniform(*_PAUSE_S) * RATE))


def _noise(random: np.random.Generator, count: int, level: float) -> np.ndarray:
    return random.normal(size=count) * 10 ** ((level + random.uniform(*_NOISE_DB)) / 20)


def _tone(random: np.random.Generator, time: np.ndarray, frequency: float) -> np.ndarray:
    return np.sin(2 * np.pi * (frequency * time + random.random()))


def _single(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    """One of the eight tones alone, or any other."""
    if random.random() < 0.5:
        return _tone(random, time, random.choice(ROWS + COLUMNS) * _drift(random))
    return _tone(random, time, random.uniform(300, 3400))


def _wrong_pair(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    """Two of the rows or two of the columns, or two tones of which one is between those of keys."""
    kind = random.integers(3)
    if kind < 2:
        first, second = random.choice((ROWS, COLUMNS)[kind], 2, replace=False)
        return _tone(random, time, first) + _tone(random, time, second)
    tones = [random.choice(ROWS), random.choice(COLUMNS)]
    tones[random.integers(2)] = random.choice([425, 440, 620, 1075, 2130, 2600])
    return _tone(random, time, tones[0]) + _tone(random, time, tones[1])


def _chirp(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    """A tone that glides."""
    first, last = random.uniform(300, 3000, 2)
    last += 400 * np.sign(last - first)
    return np.sin(2 * np.pi * np.cumsum(first + (last - first) * time / time[-1]) / RATE)


def _voice(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    """Harmonics of a pitch that glides, louder near three formants, as a vowel has them."""
    pitch = random.uniform(90, 260) * (1 + random.uniform(-0.2, 0.2) * time / time[-1])
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    formants = random.uniform((250, 800, 2000), (850, 2200, 3200))
    sound = np.zeros_like(time)
    for harmonic in range(1, 25):
        distance = np.abs(harmonic * pitch.mean() - formants).min()
        sound += np.exp(-distance / 150) / np.sqrt(harmonic) * np.sin(harmonic * phase + 2 * np.pi * random.random())
    return sound


_OTHERS = (_single, _wrong_pair, _chirp, _voice)
