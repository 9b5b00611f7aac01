"""Writes representative inputs of the network: angles over a whole period.

Usage:

    calibration_data.py CALIBRATION.npz
"""

import math
import sys

import numpy as np

np.savez(sys.argv[1], x=np.linspace(0, 2 * math.pi, 128, dtype=np.float32).reshape(-1, 1))
