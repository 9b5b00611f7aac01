"""pytest options for this folder, as a plugin, because pytest reads no conftest.py when Bazel runs it.

A test with an argument `seeds` is run for the random cases of its module, CASES or as many as --cases says, in several
parts if there are many, which shards of a Bazel test share among them.
"""

_MOST = 1000  # cases of a part


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, default=None, help="random cases of each operator")


def pytest_generate_tests(metafunc):
    if "seeds" not in metafunc.fixturenames:
        return
    count = metafunc.config.getoption("--cases") or metafunc.module.CASES
    parts = [range(first, min(first + _MOST, count)) for first in range(0, count, _MOST)]
    metafunc.parametrize("seeds", parts, ids=[f"{part.start}-{part.stop}" for part in parts])
