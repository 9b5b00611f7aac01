"""Sound with a made word in it, and with others: synthesized, because the benchmark's recordings are not here.

A word is two or three vowels that glide into each other, with the pitch of a voice. One pair of vowels is the wake
word. It is easier to hear than a word that people say: what is shown with it is the path from samples to detections,
and not how good a network can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RATE = 16000  # samples a second
# The first three formants of vowels in Hz.
_VOWELS = {"a": (750, 1200, 2500), "i": (280, 2250, 3000), "u": (320, 800, 2250), "e": (500, 1850, 2500)}
_WAKE = "ai"
_OTHERS = ("ia", "au", "ua", "ui", "iu", "ae", "ea", "a", "i", "u", "e", "aia", "iau")
_SYLLABLE_S = 0.2, 0.3
_LEVELS_DB = -30.0, -6.0  # of a word: its largest sample, of the largest number
_NOISE_DB = -75.0, -45.0  # from one word to the next
_PAUSE_S = 0.3, 0.9
# Behind a wake word: a detection belongs to it until two seconds after its end.
_LONG_PAUSE_S = 2.0, 2.4
_RAMP_S = 0.02


@dataclass(frozen=True)
class Word:
    """A word that sounds from sample `start` to before sample `stop`."""

    start: int
    stop: int
    wakes: bool


@dataclass(frozen=True)
class Tape:
    """What the microphone hears: `samples`, (count,) int16, and the words in it."""

    samples: np.ndarray
    words: tuple[Word, ...]


def tape(random: np.random.Generator, wake_words: int, long_pauses: bool = False) -> Tape:
    """Returns so many wake words and about as many others, with pauses between them, and a second without a word at
    either end. With `long_pauses` wake words are at least two seconds apart."""
    parts = [np.zeros(RATE)]
    noises = [_noise(random, RATE)]
    words: list[Word] = []
    end = RATE
    while sum(word.wakes for word in words) < wake_words:
        wakes = bool(random.random() < 0.5)
        vowels = _WAKE if wakes else str(random.choice(_OTHERS))
        sound = _word(random, vowels) * 10 ** (random.uniform(*_LEVELS_DB) / 20)
        words.append(Word(end, end + sound.size, wakes))
        pause = np.zeros(int(RATE * random.uniform(*(_LONG_PAUSE_S if wakes and long_pauses else _PAUSE_S))))
        parts += [sound, pause]
        noises.append(_noise(random, sound.size + pause.size))
        end += sound.size + pause.size
    steps = (np.concatenate([*parts, np.zeros(RATE)]) + np.concatenate([*noises, _noise(random, RATE)])) * 32768
    return Tape(np.clip(np.rint(steps), -32768, 32767).astype(np.int16), tuple(words))


def _noise(random: np.random.Generator, count: int) -> np.ndarray:
    return random.normal(size=count) * 10 ** (random.uniform(*_NOISE_DB) / 20)


def _word(random: np.random.Generator, vowels: str) -> np.ndarray:
    """Returns the sound of vowels, its largest sample 1: harmonics of a pitch, louder near the formants."""
    count = int(RATE * random.uniform(*_SYLLABLE_S) * max(2, len(vowels)))
    time = np.arange(count) / RATE
    place = np.linspace(0, len(vowels) - 1, count)
    # Most of the time one vowel or the other sounds, and not what lies between.
    place = np.floor(place) + np.clip((place % 1 - 0.3) / 0.4, 0, 1)
    size = random.uniform(0.9, 1.15)  # of the speaker: small ones have higher formants
    formants = size * np.stack(
        [np.interp(place, np.arange(len(vowels)), [_VOWELS[vowel][i] for vowel in vowels]) for i in range(3)]
    )
    pitch = random.uniform(90, 240) * (1 + random.uniform(-0.15, 0.15) * time / time[-1])
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    sound = np.zeros(count)
    for harmonic in range(1, int(3600 / pitch.max())):
        distance = np.abs(harmonic * pitch - formants).min(0)
        sound += np.exp(-distance / 140) / np.sqrt(harmonic) * np.sin(harmonic * phase + 2 * np.pi * random.random())
    ramp = np.minimum(np.minimum(time, time[::-1]) / _RAMP_S, 1.0)
    sound = sound * ramp
    return sound / np.abs(sound).max()
