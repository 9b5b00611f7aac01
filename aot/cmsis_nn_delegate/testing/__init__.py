"""Helpers for tests: graphs built by hand and drawn at random."""
