"""Counts the test cases of a finished `bazel test`; standard library only.

    python3 summary.py LOG TESTLOGS BAZEL_EXIT_CODE

LOG is Bazel's output, TESTLOGS its folder of test.xml files. Prints how long the tests took, a warning if one took
longer than LONGEST or the whole run longer than LONGEST_RUN, and `N passed, N failed, N skipped`. The exit code is 0 if
something passed and nothing failed. A long time is not a failure: the machine may have been busy.

The log says which targets were tested, because TESTLOGS may contain files of targets that no longer exist. The
cases come from the XML. A target that failed without a failed case (not built, timed out, crashed, no XML) counts as
one failure; one that Bazel skipped, because it is not for this machine, counts as one skipped case. If Bazel
failed without any of that (a BUILD file with an error), this is one failure as well.
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

# "//a/b:c   PASSED in 1.2s", and below it, for a target with shards, "Stats over 3 runs: max = 2.5s, ... avg = 2.0s"
_SECONDS = re.compile(r"^(?P<target>//\S+)\s+[A-Z]+ in (?P<seconds>[\d.]+)s$")
_SHARDS = re.compile(r"^\s+Stats over (?P<count>\d+) runs: max = (?P<longest>[\d.]+)s, .*avg = (?P<mean>[\d.]+)s")
_ELAPSED = re.compile(r"^INFO: Elapsed time: (?P<seconds>[\d.]+)s")

LONGEST = 60  # seconds, of a test
LONGEST_RUN = 960  # seconds, of a first run on two idle cores


@dataclasses.dataclass
class Count:
    """Numbers of test cases."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


def cases(path):
    """Returns the Count of a test.xml written by pytest, googletest or Bazel itself."""
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
    """Returns the Count of the target whose test.xml files (one per shard) are in `folder`."""
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
    """Returns the Count of the run that printed `log`."""
    statuses = {}
    for line in log.splitlines():
        match = _LINE.match(line)
        if match:
            statuses[match["package"], match["name"]] = match["status"]
    total = Count()
    for (package, name), status in statuses.items():
        total += target_count(pathlib.Path(testlogs) / package / name, status)
    return total


def times(log):
    """Returns lines that say how long the run that printed `log` took; cached results do not count."""
    longest, total, elapsed, target = {}, 0.0, 0.0, None
    for line in log.splitlines():
        if match := _SECONDS.match(line):
            target = match["target"]
            longest[target] = float(match["seconds"])
            total += longest[target]
        elif (match := _SHARDS.match(line)) and target:
            total += int(match["count"]) * float(match["mean"]) - longest[target]
        elif match := _ELAPSED.match(line):
            elapsed = float(match["seconds"])
    if not longest or not elapsed:
        return []
    slowest = sorted(longest, key=longest.get, reverse=True)
    found = [f"{total:.0f} s of tests in {elapsed:.0f} s; the longest:"]
    found += [f"  {longest[target]:5.1f} s  {target}" for target in slowest[:10]]
    found += [
        f"WARNING: {target} took longer than {LONGEST} s: was the machine busy?"
        for target in slowest
        if longest[target] > LONGEST
    ]
    if elapsed > LONGEST_RUN:
        found.append(f"WARNING: the run took longer than {LONGEST_RUN} s: was the machine busy?")
    return found


def main(argv):
    log, testlogs, code = argv
    with open(log, encoding="utf-8", errors="replace") as lines:
        text = lines.read()
    total = summarize(text, testlogs)
    for line in times(text):
        print(line)
    if int(code) and not total.failed:
        total.failed = 1
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
