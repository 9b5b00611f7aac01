"""Makes links between files of the repository work on the site, which has only some of these files.

A link to a folder leads to its README.md, and a link to README.md of the repository to the first page. What stands on
no page keeps its text without a link: //docs:docs_test finds those that lead nowhere in the repository.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping

_CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ ]*$|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
_SCHEME = re.compile("[a-z]+:")


def rewrite(text: str, path: str, files: Collection[str], renamed: Mapping[str, str]) -> str:
    """Returns a page with the links of the site.

    text: Markdown.
    path: of the page in the repository.
    files: paths of all files on the site, as in the repository.
    renamed: files that have another path on the site.
    """
    folder = posixpath.dirname(path)
    codes = [match.span() for match in _CODE.finditer(text)]

    def link(match: re.Match[str]) -> str:
        shown, target = match.groups()
        begins_in_code = any(begin <= match.start() < end for begin, end in codes)
        if begins_in_code or _SCHEME.match(target) or target.startswith("#"):
            return match[0]
        linked, _, anchor = target.partition("#")
        found = posixpath.normpath(posixpath.join(folder, linked))
        found = found if found in files else posixpath.join(found, "README.md")
        if found not in files:
            return shown
        there = posixpath.relpath(renamed.get(found, found), folder or ".")
        return f"[{shown}]({there}{'#' + anchor if anchor else ''})"

    return _LINK.sub(link, text)
