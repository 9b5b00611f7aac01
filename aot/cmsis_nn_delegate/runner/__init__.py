"""Runs compiled models: the job that a firmware runner reads from memory, and the report on its UART."""
