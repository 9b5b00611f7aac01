"""The flash that networks take in images of their own; see README.md."""
