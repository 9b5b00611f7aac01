"""Runs pytest as a Bazel test: the main program of every `pytest_test`.

Adds what Bazel expects of a test runner: JUnit XML, --test_filter and sharding. Nothing is written
outside the test's own directories.
"""

import gc
import os
import pathlib
import sys

import pytest


class BazelPlugin:
    """Shards the tests, makes hypothesis repeatable, and records files that were skipped as a whole."""

    def __init__(self):
        self.skipped_a_file = False

    def pytest_collectreport(self, report):
        self.skipped_a_file |= report.skipped

    def pytest_configure(self, config):
        try:
            from hypothesis import settings
            from hypothesis.internal.conjecture import providers
        except ImportError:
            return
        # The same examples in every run and no time limit: a busy machine must not fail a test.
        settings.register_profile("bazel", deadline=None, derandomize=True, database=None)
        settings.load_profile("bazel")
        # hypothesis would parse every imported file of this project for constants to try: a second of each test that
        # imports the compiler, and examples that change with constants which have nothing to do with the test.
        if hasattr(providers, "_get_local_constants"):
            providers._get_local_constants = lambda: providers.Constants()

    def pytest_collection_finish(self, session):
        # What the tests have imported stays until the end. Without this, pytest's own collection after the last test
        # and the end of Python search it for garbage several times: 2 s where torch is imported.
        gc.freeze()

    def pytest_sessionfinish(self, session):
        gc.freeze()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        total = int(os.environ.get("TEST_TOTAL_SHARDS", "1"))
        index = int(os.environ.get("TEST_SHARD_INDEX", "0"))
        status = os.environ.get("TEST_SHARD_STATUS_FILE")
        if status:
            pathlib.Path(status).touch()
        items[:] = _shard(items, index, total)


def _shard(items, index, total):
    """Every `total`th test from `index`, where tests that share a fixture of their file count as one: in several
    shards, each would make it anew."""
    together = {}
    for item in items:
        together.setdefault(_shared_fixtures(item) or item.nodeid, []).append(item)
    return [item for group in list(together.values())[index::total] for item in group]


def _shared_fixtures(item):
    """The file whose fixtures outlive `item`, the last one of them, which the others may need, and their parameters;
    None if there are no such fixtures."""
    cases = item.callspec.params if hasattr(item, "callspec") else {}
    definitions = {name: found for name, (*_, found) in item._fixtureinfo.name2fixturedefs.items()}
    shared = [name for name, found in definitions.items() if found.scope != "function" and found.baseid]
    if not shared:
        return None
    return definitions[shared[-1]].baseid, shared[-1], *(repr(cases[name]) for name in shared if name in cases)


def main(arguments):
    # Nothing reads the bytecode in a sandbox again.
    sys.dont_write_bytecode = True
    # torch creates millions of permanent objects: searching them for garbage takes a fifth of the time of
    # importing it and of exporting a model.
    gc.set_threshold(1_000_000, 100, 100)
    # Load only hypothesis's plugin: importing those of other packages takes a second in each test.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    options = ["-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider", "--import-mode=importlib", "-ra"]
    # torch would log everything that it traces, which takes an eighth of the time of lowering a model.
    options += ["-p", "no:logging"]
    xml = os.environ.get("XML_OUTPUT_FILE")
    if xml:
        options.append(f"--junitxml={xml}")
    only = os.environ.get("TESTBRIDGE_TEST_ONLY")
    if only:
        options += ["-k", only]
    temporary = os.environ.get("TEST_TMPDIR")
    if temporary:
        options.append(f"--basetemp={temporary}/pytest")
        # Otherwise, torch and its compiler write caches to the home directory.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", f"{temporary}/torchinductor")
        os.environ["HOME"] = temporary
    plugin = BazelPlugin()
    code = pytest.main(options + arguments, plugins=[plugin])
    # A shard without tests passes, and so does a file that is skipped with a reason; a file without tests fails.
    sharded = int(os.environ.get("TEST_TOTAL_SHARDS", "1")) > 1
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and (sharded or plugin.skipped_a_file):
        return 0
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
