"""Benchmarks: what networks take on simulated cores, next to other systems; see README.md."""
