"""Tests the summary with logs and XML files as Bazel, pytest and googletest write them."""

import importlib.util
import json
import pathlib

import pytest

_SPEC = importlib.util.spec_from_file_location("summary", pathlib.Path(__file__).with_name("summary.py"))
summary = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(summary)

Count = summary.Count

PYTEST = """<testsuites><testsuite><testcase name="a"/><testcase name="b"><skipped message="no"/></testcase>
<testcase name="c"><failure message="x"/></testcase><testcase name="d"><error message="x"/></testcase>
</testsuite></testsuites>"""
GOOGLETEST = """<testsuites><testsuite><testcase name="A" status="run" result="completed"/>
<testcase name="B" status="notrun" result="suppressed"/>
<testcase name="C" status="run" result="skipped"><skipped message=""/></testcase>
<testcase name="D" status="run" result="completed"><failure/></testcase></testsuite></testsuites>"""
BAZEL_PASSED = """<testsuites><testsuite><testcase name="x" status="run"/></testsuite></testsuites>"""
BAZEL_FAILED = """<testsuites><testsuite><testcase name="x"><error message="exited with 1"/></testcase>
</testsuite></testsuites>"""
SHARDS = """//a:b      FAILED in 1 out of 2 in 0.3s
  Stats over 2 runs: max = 0.3s, min = 0.2s, avg = 0.2s, dev = 0.1s"""


def write(folder, target, content, shard=""):
    path = folder / target / shard / "test.xml"
    path.parent.mkdir(parents=True)
    path.write_text(content)


@pytest.mark.parametrize(
    "content, expected",
    [
        (PYTEST, Count(1, 2, 1)),
        (GOOGLETEST, Count(1, 1, 2)),
        (BAZEL_PASSED, Count(1, 0, 0)),
        (BAZEL_FAILED, Count(0, 1, 0)),
    ],
)
def test_cases(tmp_path, content, expected):
    write(tmp_path, "a/b", content)
    assert summary.cases(tmp_path / "a/b/test.xml") == expected


def test_skipped_cases_say_why(tmp_path):
    write(tmp_path, "a/b", PYTEST)
    write(tmp_path, "a/c", GOOGLETEST)
    log = "//a:b   PASSED in 0.3s\n//a:c   PASSED in 0.3s\n//a:d   SKIPPED"
    found = summary.summarize(log, tmp_path).reasons
    assert found == {"no": 1, "it does not say why": 2, "a target that is not for this machine": 1}
    assert summary.skips(found)[:2] == ["skipped, because:", "      2  it does not say why"]
    many = summary.collections.Counter({f"reason {number}": 2 for number in range(summary.REASONS + 3)})
    assert summary.skips(many)[-1] == "      6  other reasons" and len(summary.skips(many)) == summary.REASONS + 2
    assert not summary.skips(summary.collections.Counter())


def test_only_targets_of_this_run_count(tmp_path):
    write(tmp_path, "a/b", BAZEL_PASSED)
    write(tmp_path, "a/deleted", BAZEL_FAILED)
    log = "INFO: Found 1 test target\n//a:b      (cached) PASSED in 0.3s\n\nExecuted 1 out of 1 test"
    assert summary.summarize(log, tmp_path) == Count(1, 0, 0)


@pytest.mark.parametrize(
    "line, expected",
    [
        ("//a:b              PASSED in 0.3s", Count(1, 0, 0)),
        ("//a:b              FLAKY, failed in 1 out of 2 in 0.3s", Count(1, 0, 0)),
        ("//a:b              FAILED in 0.3s", Count(1, 1, 0)),  # crashed after its last case
        ("//a:b              TIMEOUT in 60.0s", Count(1, 1, 0)),
        ("//a:b              FAILED TO BUILD", Count(0, 1, 0)),  # the XML is from an earlier run
        ("//a:b              NO STATUS", Count(0, 1, 0)),
        ("//a:b              SKIPPED", Count(0, 0, 1)),
    ],
)
def test_status_of_a_target(tmp_path, line, expected):
    write(tmp_path, "a/b", BAZEL_PASSED)
    assert summary.summarize(line, tmp_path) == expected


def test_test_without_xml(tmp_path):
    assert summary.summarize("//:b      PASSED in 0.3s", tmp_path) == Count(1, 0, 0)


def test_cut_off_xml_is_a_failure(tmp_path):
    write(tmp_path, "a/b", PYTEST[:40])
    assert summary.summarize("//a:b      FAILED in 0.3s", tmp_path) == Count(0, 1, 0)


def test_shards_add_up(tmp_path):
    write(tmp_path, "a/b", BAZEL_PASSED, "shard_1_of_2")
    write(tmp_path, "a/b", PYTEST, "shard_2_of_2")
    assert summary.summarize(SHARDS, tmp_path) == Count(2, 2, 1)


def test_files_of_another_number_of_shards_do_not_count(tmp_path):
    """A folder of results that an earlier commit has used keeps its files."""
    write(tmp_path, "a/b", BAZEL_FAILED)
    write(tmp_path, "a/b", BAZEL_FAILED, "shard_3_of_3")
    write(tmp_path, "a/b", BAZEL_PASSED, "shard_1_of_2")
    write(tmp_path, "a/b", BAZEL_PASSED, "shard_2_of_2")
    assert summary.summarize(SHARDS.replace("FAILED in 1 out of 2", "PASSED"), tmp_path) == Count(2, 0, 0)
    assert summary.summarize("//a:b      FAILED in 0.3s", tmp_path) == Count(0, 1, 0)


@pytest.mark.parametrize(
    "log, bazel_code, code, line",
    [
        ("//a:b  PASSED in 0.3s\n", 0, 0, "1 passed, 0 failed, 0 skipped\n"),
        ("//a:b  PASSED in 0.3s\n//a:c  FAILED TO BUILD\n", 1, 1, "1 passed, 1 failed, 0 skipped\n"),
        ("//a:b  PASSED in 0.3s\nERROR: not all targets were analyzed\n", 1, 1, "1 passed, 1 failed, 0 skipped\n"),
        ("ERROR: no such package\n", 1, 1, "0 passed, 1 failed, 0 skipped\n"),
        ("", 0, 1, "0 passed, 0 failed, 0 skipped\n"),
    ],
)
def test_command_line(tmp_path, capsys, log, bazel_code, code, line):
    assert summary.main([keep(tmp_path, log, bazel_code)]) == code
    assert capsys.readouterr().out.splitlines(keepends=True)[-1] == line


def keep(folder, log, code, processor_seconds=1):
    """Writes what .ci/run keeps of a run and returns the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "log").write_text(log)
    (folder / "code").write_text(f"{code}\n")
    (folder / "processor_seconds").write_text(f"{processor_seconds}\n")
    return str(folder)


def test_runs_add_up(tmp_path, capsys):
    """The second one is of a program, which has no tests."""
    runs = [
        keep(tmp_path / "all", "//a:b  PASSED in 0.3s\n//a:c  SKIPPED\n", 0),
        keep(tmp_path / "demo", "demo: error\n", 1),
        keep(tmp_path / "without", "//a:b  PASSED in 0.3s\n", 0),
    ]
    assert summary.main(runs) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 1 failed, 1 skipped"


def test_actions():
    log = "INFO: 90 processes: 7 disk cache hit, 9 remote cache hit, 14 internal, 50 linux-sandbox, 10 local.\n"
    assert summary.actions("Loading\n" + log) == 60
    assert summary.actions("INFO: 1 process: 1 internal.\n") == 0
    assert summary.actions("ERROR: a BUILD file with an error\n") == 0


@pytest.mark.parametrize("part, sign", [("with parts", "bazelw: using the parts in /parts\n"), ("without parts", "")])
def test_growth(tmp_path, monkeypatch, capsys, part, sign):
    other = {"actions": 1, "processor_seconds": 1, "seconds": 1}
    budget = {"with parts": other, "without parts": other}
    budget[part] = {"actions": 1000, "processor_seconds": 2000, "seconds": 3000}
    monkeypatch.setattr(summary, "BUDGET", tmp_path / "budget.json")
    summary.BUDGET.write_text(json.dumps(budget))
    for counted, processor_seconds, seconds, code, told in [
        (1150, 2300, 3450, 0, []),
        (1151, 2300, 3450, 1, ["FAILED: over 15 % more actions"]),
        (1000, 2301, 3450, 0, ["WARNING: more processor seconds"]),
        (1000, 2000, 3451, 0, ["WARNING: more seconds"]),
    ]:
        log = sign + f"INFO: Elapsed time: {seconds}.2s, Critical Path: 5.00s\n"
        log += f"INFO: {counted} processes: {counted} linux-sandbox.\n//a:b  PASSED in 0.3s\n"
        assert summary.main([keep(tmp_path / "all", log, 0, processor_seconds)]) == code
        printed = capsys.readouterr().out
        assert f"{counted:5} of  1000 actions\n" in printed
        kinds = ["FAILED: over 15 % more actions", "WARNING: more processor seconds", "WARNING: more seconds"]
        assert [kind for kind in kinds if kind in printed] == told


def test_long_tests_are_told():
    log = """INFO: Elapsed time: 400.5s, Critical Path: 50.00s
//a:cached                          (cached) PASSED in 70.0s
//a:short                                    PASSED in 9.5s
//a:sharded                                  PASSED in 44.0s
  Stats over 2 runs: max = 44.0s, min = 41.0s, avg = 42.5s, dev = 1.5s
//a:long                                     FAILED in 61.5s
"""
    assert summary.times(log) == [
        "156 s of tests in 400 s; the longest:",
        "   61.5 s  //a:long",
        "   44.0 s  //a:sharded",
        "    9.5 s  //a:short",
        "WARNING: //a:long took longer than 45 s: was the machine busy?",
    ]
    assert summary.times("ERROR: a BUILD file with an error") == []
