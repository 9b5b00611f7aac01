"""Counts the test cases of finished runs of Bazel; standard library only.

    python3 summary.py FOLDER [FOLDER ...]

Each FOLDER has what .ci/run keeps of a run: `log`, Bazel's output; `code`, its exit code; and of tests `testlogs`, the
test.xml files, and `processor_seconds`. Prints how long the tests of the first run took, a warning if one took longer
than LONGEST, why cases were skipped, and `N passed, N failed, N skipped`. The exit code is 0 if something passed and
nothing failed.

The first run is compared with budget.json, which has what a cold one took on two idle cores. It fails with over
GROWTH % more actions: tests that cost more must be worth it, and whoever adds them writes the new figure there. A long
time is not a failure, because the machine may have been busy, and processor seconds differ by up to 18 % between runs
of the same commit: over GROWTH % more of these are a warning.

The log says which targets were tested and in how many shards, because `testlogs` may contain files of targets that no
longer exist, and of a target from when it had another number of shards. The cases come from the XML. A target that
failed without a failed case (not built, timed out, crashed, no XML) counts as one failure; one that Bazel skipped,
because it is not for this machine, counts as one skipped case. If a command failed without any of that (a BUILD file
with an error, the demo), this is one failure as well.
"""

import collections
import dataclasses
import json
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
_ELAPSED = re.compile(r"^INFO: Elapsed time: (?P<seconds>[\d.]+)s", re.MULTILINE)

# "INFO: 4537 processes: 12 disk cache hit, 2041 internal, 2496 linux-sandbox."
_PROCESSES = re.compile(r"^INFO: \d+ process(es)?: (?P<kinds>.*)\.$", re.MULTILINE)

BUDGET = pathlib.Path(__file__).with_name("budget.json")
GROWTH = 15  # percent
LONGEST = 45  # seconds, of a test
REASONS = 12  # that are printed, the most frequent ones
_WIDTH = 120  # characters of a reason


@dataclasses.dataclass
class Count:
    """Numbers of test cases, and how many were skipped for each reason that they state."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: collections.Counter = dataclasses.field(default_factory=collections.Counter, compare=False)

    def __add__(self, other):
        return Count(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.reasons + other.reasons,
        )


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
            found = case.find("skipped")
            message = "" if found is None else " ".join((found.get("message") or "").split())
            count.reasons[message[:_WIDTH] or "it does not say why"] += 1
        else:
            count.passed += 1
    return count


def target_count(folder, status, shards):
    """Returns the Count of the target whose test.xml files, one for each of its `shards`, are in `folder`."""
    if status == "SKIPPED":
        return Count(skipped=1, reasons=collections.Counter(["a target that is not for this machine"]))
    count = Count()
    if status not in ("FAILED TO BUILD", "NO STATUS"):
        for path in sorted(folder.glob("test.xml" if shards == 1 else f"shard_*_of_{shards}/test.xml")):
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
    statuses, shards, target = {}, {}, None
    for line in log.splitlines():
        if match := _LINE.match(line):
            target = match["package"], match["name"]
            statuses[target], shards[target] = match["status"], 1
        elif match := _SHARDS.match(line):
            shards[target] = int(match["count"])
    total = Count()
    for (package, name), status in statuses.items():
        total += target_count(pathlib.Path(testlogs) / package / name, status, shards[package, name])
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
    return found


def skips(reasons):
    """Returns lines that say why cases were skipped."""
    found = [f"  {count:5}  {reason}" for reason, count in reasons.most_common(REASONS)]
    left = sum(reasons.values()) - sum(count for _, count in reasons.most_common(REASONS))
    return ["skipped, because:", *found, *([f"  {left:5}  other reasons"] if left else [])] if found else []


def actions(log):
    """Returns how many actions the run that printed `log` executed: neither what caches had nor Bazel's own."""
    match = _PROCESSES.search(log)
    kinds = [kind.strip().split(" ", 1) for kind in match["kinds"].split(",")] if match else []
    return sum(int(count) for count, kind in kinds if kind != "internal" and "cache" not in kind)


def elapsed_seconds(log):
    """Returns how long Bazel took."""
    match = _ELAPSED.search(log)
    return float(match["seconds"]) if match else 0.0


def growth(log, processor_seconds, budget):
    """Compares a run with `budget`, the object of budget.json. Returns lines to print, and whether it is too much."""
    part = "with parts" if "bazelw: using the parts" in log else "without parts"
    taken = {"actions": actions(log), "processor_seconds": processor_seconds, "seconds": round(elapsed_seconds(log))}
    found = [f"compared with .ci/budget.json, {part}:"]
    found += [f"  {taken[name]:5} of {budget[part][name]:5} {name.replace('_', ' ')}" for name in taken]
    long = [name for name in taken if 100 * taken[name] > (100 + GROWTH) * budget[part][name]]
    found += [
        f"WARNING: more {name.replace('_', ' ')} than usual: was the machine busy?"
        for name in long
        if name != "actions"
    ]
    if "actions" in long:
        found.append(
            f"FAILED: over {GROWTH} % more actions. Build and test with fewer, or write the new figures there if they "
            "are worth it."
        )
    return found, "actions" in long


def main(argv):
    total, lines = Count(), []
    for number, folder in enumerate(pathlib.Path(argument) for argument in argv):
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        part = summarize(log, folder / "testlogs")
        if int((folder / "code").read_text()) and not part.failed:
            part.failed = 1
        if number == 0:
            lines += times(log)
            compared, too_many = growth(
                log, int((folder / "processor_seconds").read_text()), json.loads(BUDGET.read_text())
            )
            lines += compared
            part.failed += too_many
        total += part
    print(
        *lines,
        *skips(total.reasons),
        f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped",
        sep="\n",
    )
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
