"""Every kernel provider against the integer reference, on random calls."""
