"""C and C++ that is written of payloads, for firmware to compile."""
