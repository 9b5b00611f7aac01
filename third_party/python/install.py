"""Installs a lock file with the pip of a virtual environment; prints what it is doing.

    python install.py VENV_PYTHON LOCK_FILE

pip prints either nothing or several lines a package. This prints a line every few seconds, and pip's
own output only if pip fails. Standard library only; exit code is pip's.
"""

import re
import subprocess
import sys
import time

SECONDS_BETWEEN_LINES = 5


def say(text):
    print(f"python packages: {text}", file=sys.stderr, flush=True)


def main(python, lock):
    with open(lock, encoding="utf-8") as lines:
        total = sum(1 for line in lines if line.strip() and not line.startswith("#"))
    # The versions are all locked, but dependencies are still followed: which ones torch has differs
    # between its CPU and its GPU build, and the index decides which of the two it is.
    pip = subprocess.Popen(
        [
            python,
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--no-input",
            "--no-color",
            "--progress-bar=off",
            "--no-warn-script-location",
            "--no-compile",  # by one process; see below
            "--requirement",
            lock,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    output = []
    started = last = time.monotonic()
    count = 0
    say(f"installing {total}, the first time only; this takes a few minutes")
    for line in pip.stdout:
        output.append(line)
        found = re.match(r"Collecting (\S+)", line)
        count += found is not None
        if line.startswith("Installing collected packages"):
            say("all downloaded, unpacking them")
        elif found and time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(f"{count} of {total}: {found.group(1)}")
    code = pip.wait()
    if code:
        sys.stderr.writelines(output[-40:])
        return code
    # With all processors. Tests of packages are left out, and files in other versions of the language, which
    # some packages have as templates, fail: neither is imported.
    say("compiling them")
    packages = packages_folder(python)
    subprocess.run(
        [python, "-m", "compileall", "-q", "-j", "0", "-x", r"/tests?/", packages],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    say(f"done in {time.monotonic() - started:.0f} s")
    return 0


def packages_folder(python):
    """The folder that the environment of `python` has its packages in."""
    command = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
