"""The payload's format: records, their fields, and the numbers of kernels. Standard library only."""
