"""From a quantized, exported program to partitions and their graphs."""
