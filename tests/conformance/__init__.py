"""Compares every kernel provider with the integer reference, on random calls."""
