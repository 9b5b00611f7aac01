"""Docstrings as reStructuredText."""

from __future__ import annotations

import docstring_fields
import pytest


def converted(text: str) -> str:
    return "\n".join(docstring_fields.convert(text.splitlines())).rstrip()


def test_arguments():
    text = "Encodes.\n\ngraph: with `x`.\nstrict: whether to fail; or\n    else not.\na, b: sizes."
    assert converted(text) == (
        "Encodes.\n\n:param graph: with ``x``.\n:param strict: whether to fail; or\n    else not.\n"
        ":param a: sizes.\n:param b: sizes."
    )


def test_items():
    text = "form: one of\n    two, namely:\nkind: one of these:\n    flat, all\n        in one;\n    deep.\nlast: none."
    assert converted(text) == (
        ":param form: one of\n    two, namely:\n:param kind: one of these:\n\n"
        "    - flat, all\n      in one;\n    - deep.\n"
        "\n:param last: none."
    )


@pytest.mark.parametrize("text", ["Returns it: a sentence.", "Errors: none.\nAnd more text.", "Two words: and more."])
def test_sentences_are_no_arguments(text):
    assert ":param" not in converted(text)


def test_examples_are_literal():
    text = "For example:\n\n    a = `b`\n\n    c(*d)\n\nThen *all* is well."
    assert converted(text) == "For example:\n\n::\n\n    a = `b`\n\n    c(*d)\n\nThen *all* is well."


def test_code_that_is_marked_twice_stays():
    assert converted("See ``x`` and `y`.") == "See ``x`` and ``y``."
