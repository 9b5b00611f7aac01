"""Runs a command in a session of its own, and ends it with whoever started it.

    guard.py FOLDER COMMAND...

When standard input ends, because the starter closed it or died in any way, every process of the
command is killed and FOLDER is removed. Ends by itself when the command does, with its exit code.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return process.wait()


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

    def wait():
        code = process.wait()
        _kill(process)  # What it has left behind.
        os._exit(min(abs(code), 125))

    threading.Thread(target=wait, daemon=True).start()
    while os.read(0, 1):
        pass
    _kill(process)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
