"""Links of the repository on the site."""

from __future__ import annotations

import pytest
import repository_links

FILES = {"README.md", "docs/a.md", "docs/b/README.md", "docs/picture.svg"}


@pytest.mark.parametrize(
    "there, here",
    [
        ("[b](b/README.md)", "[b](b/README.md)"),
        ("[b](b)", "[b](b/README.md)"),
        ("[b](b/)", "[b](b/README.md)"),
        ("[b](b/README.md#part)", "[b](b/README.md#part)"),
        ("[start](../README.md#two-commands)", "[start](../index.md#two-commands)"),
        ("[`a [1]`](a.md)", "[`a [1]`](a.md)"),
        ("[source](../runtime/x.h)", "source"),
        ("[`x.h`](../runtime/x.h) and [b](b)", "`x.h` and [b](b/README.md)"),
        ("[here](#part)", "[here](#part)"),
        ("[web](https://example.org/x)", "[web](https://example.org/x)"),
        ("![picture](picture.svg)", "![picture](picture.svg)"),
        ("`[x](y)`", "`[x](y)`"),
        ("```\nf[i](j)\n```\n[x](y)", "```\nf[i](j)\n```\nx"),
        ("```python\n`a`\n[x](y)\n```", "```python\n`a`\n[x](y)\n```"),
    ],
)
def test_links(there, here):
    assert repository_links.rewrite(there, "docs/a.md", FILES, {"README.md": "index.md"}) == here


def test_links_of_the_first_page():
    assert repository_links.rewrite("[a](docs/a.md)", "README.md", FILES, {}) == "[a](docs/a.md)"
