"""pytest options for this folder, as a plugin, because pytest reads no conftest.py when Bazel runs it."""


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, default=None, help="random cases of each operator")
