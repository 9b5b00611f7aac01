"""The job that a firmware runner takes from memory, and the report that it writes to its UART."""
