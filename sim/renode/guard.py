"""Runs a command in a new session, and ends it when the program that started it ends.

    guard.py FOLDER COMMAND...

When standard input ends, because the starting program closed it or died in any way, this program kills every
process of the command and removes FOLDER. When the command ends by itself, this program ends with the same
exit code (128 and more: killed by a signal) and removes nothing. The command's standard input stays open and empty.
"""

import os
import select
import shutil
import signal
import subprocess
import sys

_POLL_S = 0.1


def _starter_is_gone():
    ready, _, _ = select.select([0], [], [], _POLL_S)
    return bool(ready) and not os.read(0, 1)


def main(argv):
    folder, command = argv[0], argv[1:]
    # Leave the starting program's group: signals to that group (Ctrl-C, a test's time limit) must not end the
    # guard before it has done its work.
    os.setsid()
    nothing, _ = os.pipe()
    try:
        process = subprocess.Popen(command, stdin=nothing, start_new_session=True)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return 127
    gone = False
    while not gone and process.poll() is None:
        gone = _starter_is_gone()
    try:
        os.killpg(process.pid, signal.SIGKILL)  # Also processes that the command has left behind.
    except ProcessLookupError:
        pass
    code = process.wait()
    if gone:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
