"""Text that a terminal shows and does not obey."""

# Names and lines of code in messages and reports come from files, which may hold escape sequences.
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Returns `text` with control characters as "\\x1b", for example; line ends and tabs stay."""
    return text.translate(_ESCAPED)
