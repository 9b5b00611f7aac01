"""What stands before a network, as PyTorch modules that are compiled with it; see docs/guides/audio.md."""

from .audio import LogMel, Mfcc
from .mel import mel_bank

__all__ = ["LogMel", "Mfcc", "mel_bank"]
