"""Runs a command in a session of its own, and ends it with whoever started it.

    guard.py FOLDER COMMAND...

When standard input ends, because the starter closed it or died in any way, every process of the
command is killed and FOLDER is removed. When the command ends by itself, so does this, with its exit
code (128 and more: killed by a signal) and without removing anything.
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
    # Out of the starter's group: what is sent to that (Ctrl-C, a test's time limit) must not end the
    # guard before it has done its work.
    os.setsid()
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        return 127
    gone = False
    while not gone and process.poll() is None:
        gone = _starter_is_gone()
    try:
        os.killpg(process.pid, signal.SIGKILL)  # Also what the command has left behind.
    except ProcessLookupError:
        pass
    code = process.wait()
    if gone:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
