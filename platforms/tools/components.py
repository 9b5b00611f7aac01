"""Which components of third_party/components.bzl a firmware image contains.

Standard library only.
"""

import re

# Code that belongs to none of them.
FIRMWARE = {"name": "firmware", "license": "NOASSERTION", "version": "", "source": "NOASSERTION"}

_PADDING = "(padding)"


def contained(known, own, parts, header_repositories):
    """Returns the components of an image, those with the most flash first.

    known: the list of third_party/components.bzl.
    own: the prefix of this repository's packages among `parts`: "" in its own workspace, else "external/NAME".
    parts: part of the image -> bytes of flash.
    header_repositories: names of the repositories whose headers the image was compiled with.

    Each is a dictionary with name, license, version and source, as in `known`, and flash: its bytes. 0 means that only
    its headers were used, whose inline functions and tables are in the objects of others.
    """
    flash = {}
    for part, size in parts.items():
        if part != _PADDING:
            index = next((i for i, component in enumerate(known) if _has(component, own, part)), len(known))
            flash[index] = flash.get(index, 0) + size
    for index, component in enumerate(known):
        if any(_is_repository(name, wanted) for name in header_repositories for wanted in component["headers"]):
            flash.setdefault(index, 0)
    fields = ("name", "license", "version", "source")
    found = [
        {**{field: (known + [FIRMWARE])[index][field] for field in fields}, "flash": size}
        for index, size in flash.items()
    ]
    return sorted(found, key=lambda item: (-item["flash"], item["name"]))


def _has(component, own, part):
    prefix = re.escape(own) + "/" if own else "(?!external/|toolchain)"
    return any(re.fullmatch(re.sub("^OWN/", lambda _: prefix, pattern), part) for pattern in component["parts"])


def _is_repository(name, wanted):
    """Whether `name` is the repository `wanted`: from Bazel 6 on, Bazel's name of it only ends with that."""
    return re.split(r"[~+]", name)[-1] == wanted


def text(components):
    """Returns a table for people."""
    lines = [f"{'components':<28}{'licence':<46}{'flash':>10}"]
    for item in components:
        size = f"{item['flash']:,}" if item["flash"] else "headers"
        lines.append(f"{item['name']:<28}{item['license']:<46}{size:>10}")
    return "\n".join(lines) + "\n"
