"""Installs a lock file with the pip of a virtual environment, and prints its progress.

    python install.py VENV_PYTHON LOCK_FILE

Every file must have one of the hashes in the lock. PyTorch has builds for a CPU and for GPUs: as without hashes, pip's
configuration decides which one is installed, and the lock has the hashes of several builds. Libraries that a build for
GPUs requires are not in the lock: they are installed as that build's metadata says, without hashes.

pip prints either nothing or several lines per package. This program prints a line every few seconds, and pip's
output only if pip fails. Standard library only; the exit code is pip's.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

SECONDS_BETWEEN_LINES = 5

# Never imported: tests, templates in other versions of the language, the parts of executorch for other devices, and
# packages that others require for functions that are not used here. Compiling them would take half of the time.
NOT_COMPILED = "|".join(
    [
        r"/tests?/|/coremltools/|/executorch/(backends|examples)/",
        r"/site-packages/(pandas|pip|setuptools|huggingface_hub|mypyc)/",
        r"/torch/testing/_internal/|/pygments/lexers/|/sympy/physics/|/numpy/(f2py|distutils)/",
    ]
)


def say(text):
    print(f"python packages: {text}", file=sys.stderr, flush=True)


def pip_command(python, *arguments):
    options = ["--disable-pip-version-check", "--no-input", "--no-color", "--progress-bar=off"]
    return [python, "-m", "pip", "install", *options, *arguments]


def chosen_build(python, requirement):
    """Returns the version, with its local part, that pip installs for `requirement`; None if pip cannot find one."""
    command = pip_command(python, "--dry-run", "--no-deps", "--quiet", "--report=-", requirement)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    try:
        (found,) = json.loads(result.stdout)["install"]
    except (ValueError, KeyError):
        return None  # The installation will say why.
    return found["metadata"]["version"]


def of_one_build(python, lock):
    """Returns the text of the lock with the build of PyTorch named: with hashes, pip would otherwise prefer any other
    build to one without a hash in its index."""
    pin = re.search(r"^torch==(\S+)", lock, re.MULTILINE)
    version = pin and chosen_build(python, pin[0])
    return lock.replace(pin[0], f"torch==={version}") if version else lock


def install(python, total, *arguments):
    """Runs pip; returns its exit code."""
    command = pip_command(python, "--no-warn-script-location", "--no-compile", *arguments)
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    output = []
    last = time.monotonic()
    count = 0
    for line in pip.stdout:
        output.append(line)
        found = re.match(r"Collecting ([^\s=]+=*[^\s=]+)", line)
        count += found is not None
        if line.startswith("Installing collected packages"):
            say("all downloaded, unpacking them")
        elif found and time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(f"{count} of {total}: {found.group(1)}")
    if pip.wait():
        sys.stderr.writelines(output[-40:])
    return pip.returncode


def install_locked(python, lock):
    """Installs the text of a lock file; returns pip's exit code."""
    total = len(re.findall(r"^\S+==", lock, re.MULTILINE))
    say(f"installing {total}, the first time only; this takes a few minutes")
    lock = of_one_build(python, lock)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "requirements.lock")
        with open(path, "w", encoding="utf-8") as file:
            file.write(lock)
        code = install(python, total, "--require-hashes", "--no-deps", "--requirement", path)
    if code:
        return code
    check = [python, "-m", "pip", "--disable-pip-version-check", "check"]
    if subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        return 0
    torch = re.search(r"^torch=\S+", lock, re.MULTILINE)[0]
    say(f"installing further libraries that {torch} requires, which are not in the lock and have no hashes")
    return install(python, "?", torch)


def main(python, lock):
    started = time.monotonic()
    with open(lock, encoding="utf-8") as file:
        code = install_locked(python, file.read())
    if code:
        return code
    say("compiling them")
    command = [python, "-m", "compileall", "-q", "-j", "0", "-x", NOT_COMPILED, packages_folder(python)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    say(f"done in {time.monotonic() - started:.0f} s")
    return 0


def packages_folder(python):
    """Returns the folder with the packages of the environment of `python`."""
    command = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
