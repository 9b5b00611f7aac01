"""From a module to a quantized program: inputs, canonical form, calibration, conversion, comparison."""
