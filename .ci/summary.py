"""Counts the test cases of a finished `bazel test`; standard library only.

    python3 summary.py LOG TESTLOGS BAZEL_EXIT_CODE

LOG is what Bazel printed, TESTLOGS its folder of test.xml files. Prints `N passed, N failed, N skipped`;
exit code 0 if something passed and nothing failed.

Which targets were tested comes from the log: TESTLOGS may hold files of targets that are gone. Cases come
from the XML. A target that failed without a failed case (not built, timed out, crashed, no XML) counts as
one failure; one that Bazel skipped, because it is not for this machine, as one skipped case. A Bazel that
failed without any of that (a BUILD file with an error) is one failure as well.
"""

import dataclasses
import pathlib
import re
import sys
import xml.etree.ElementTree

# "//a/b:c   (cached) PASSED in 1.2s", "//a:b   FAILED TO BUILD", "//a:b   NO STATUS"
_LINE = re.compile(
    r"^//(?P<package>[^:\s]*):(?P<name>\S+)\s+(\(cached\) )?"
    r"(?P<status>PASSED|FLAKY|FAILED TO BUILD|FAILED|TIMEOUT|INCOMPLETE|REMOTE FAILURE|NO STATUS|SKIPPED)\b"
)


@dataclasses.dataclass
class Count:
    """Numbers of test cases."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def cases(path):
    """The Count of one test.xml, as pytest, googletest and Bazel itself write it."""
    count = Count()
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        # googletest: status="notrun" for a disabled test, result="skipped" for GTEST_SKIP().
        skipped = case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed")
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif skipped or case.find("skipped") is not None:
            count.skipped += 1
        else:
            count.passed += 1
    return count


def target_count(folder, status):
    """The Count of the target whose test.xml files (one a shard) are in `folder`."""
    if status == "SKIPPED":
        return Count(skipped=1)
    count = Count()
    if status not in ("FAILED TO BUILD", "NO STATUS"):
        for path in sorted(folder.glob("**/test.xml")):
            try:
                count += cases(path)
            except xml.etree.ElementTree.ParseError:
                count += Count(failed=1)  # Cut off.
    passed = status in ("PASSED", "FLAKY")
    if passed and count == Count():
        return Count(passed=1)
    if not passed and not count.failed:
        count.failed = 1
    return count


def summarize(log, testlogs):
    """The Count of the run that printed `log`."""
    statuses = {}
    for line in log.splitlines():
        match = _LINE.match(line)
        if match:
            statuses[match["package"], match["name"]] = match["status"]
    total = Count()
    for (package, name), status in statuses.items():
        total += target_count(pathlib.Path(testlogs) / package / name, status)
    return total


def main(argv):
    log, testlogs, code = argv
    with open(log, encoding="utf-8", errors="replace") as lines:
        total = summarize(lines.read(), testlogs)
    if int(code) and not total.failed:
        total.failed = 1
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
