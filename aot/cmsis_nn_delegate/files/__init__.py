"""The files of a compiled model."""
