"""Models as payloads and as C++ calls: the same bytes, and what each form costs."""
