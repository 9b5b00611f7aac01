"""Options of pytest for this folder: a plugin, since one run through Bazel has no conftest.py."""


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, default=None, help="random cases of each operator")
