"""A stand-in for Renode in tests of its driver: the robot server, and a machine that follows a script.

The variable FAKE_RENODE names a JSON file:

    start     "ok"; "die": ends at once; "silent": never opens its server
    version   the output of the command `version`
    refuse    a regular expression: matching commands fail
    ignore    a regular expression: matching commands get no answer
    runs      for each StartEmulation in turn, the events of the run:
                ["uart", text]  ["log", text]  ["hook", address, executed instructions]  ["pc", value]
                ["exit", text]: the firmware writes the text; its last instruction is also its first
                ["die"]

Like Renode, it deletes renode-* in TMPDIR when it starts, writes its port there, executes the script of a
hook, which can use `cpu` and `System`, and refuses every command when its current folder is gone. It
appends every command to transcript.txt beside the JSON file, and its process id and that of a child to
pids.txt.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import xmlrpc.server

CONFIG = pathlib.Path(os.environ["FAKE_RENODE"])
SCRIPT = json.loads(CONFIG.read_text())
PATH = r"@(\S+)"


def _append(path, text):
    with open(path, "a", encoding="utf-8", newline="") as file:
        file.write(text)


class Machine:
    """The machine that the commands set up."""

    def __init__(self):
        self.runs = iter(SCRIPT.get("runs", []))
        self.reset()

    def reset(self):
        self.uart = self.log = None
        self.pc = 0x1000
        self.loaded = set()
        self.hooks = {}

    def command(self, text):
        os.getcwd()
        _append(CONFIG.with_name("transcript.txt"), text + "\n")
        if SCRIPT.get("ignore") and re.search(SCRIPT["ignore"], text):
            time.sleep(3600)
        if SCRIPT.get("refuse") and re.search(SCRIPT["refuse"], text):
            raise RuntimeError(f"Could not execute command '{text}'")
        if text == "version":
            return SCRIPT.get("version", "Renode, version 9.8.7 (fake)") + "\n"
        if text == "cpu PC":
            return f"0x{self.pc:X}\n"
        if match := re.fullmatch(f"logFile {PATH} true", text):
            self.log = match.group(1)
        elif match := re.fullmatch(f"uart0 CreateFileBackend {PATH} true", text):
            self.uart = match.group(1)
        elif match := re.fullmatch(
            f"(machine LoadPlatformDescription|sysbus LoadELF|sysbus LoadBinary) {PATH}( 0x[0-9a-f]+)?", text
        ):
            shutil.copy(match.group(2), CONFIG.with_name("loaded." + match.group(1).split()[1]))
            self.loaded.add(match.group(1).split()[1])
        elif match := re.fullmatch(r'cpu AddHook (0x[0-9a-f]+) "([^"\\]*)"', text):
            self.hooks[int(match.group(1), 16)] = match.group(2)
        elif re.fullmatch("cpu VectorTableOffset 0x[0-9a-f]+", text):
            pass
        elif match := re.fullmatch(r"machine StartGdbServer (\d+) true", text):
            self.start()
        elif text not in ('mach create "dut"', "emulation SetGlobalAdvanceImmediately true", "pause"):
            raise RuntimeError(f"no such command: {text}")
        return ""

    def start(self):
        if not {"LoadPlatformDescription", "LoadELF"} <= self.loaded or not self.uart or not self.log:
            raise RuntimeError("the machine is not complete")
        threading.Thread(target=self._run, args=(next(self.runs),), daemon=True).start()

    def _run(self, events):
        file = types.SimpleNamespace(AppendAllText=_append)
        system = types.SimpleNamespace(
            IO=types.SimpleNamespace(File=file), Environment=types.SimpleNamespace(NewLine="\n")
        )

        def execute(script, instructions):
            exec(script, {"cpu": types.SimpleNamespace(ExecutedInstructions=instructions), "System": system})

        _append(self.uart, "")
        for kind, *values in events:
            time.sleep(0.02)
            if kind == "uart":
                _append(self.uart, values[0])
            elif kind == "log":
                _append(self.log, values[0] + "\n")
            elif kind == "hook" and values[0] in self.hooks:
                execute(self.hooks[values[0]], values[1])
            elif kind == "exit":
                _append(self.uart, values[0])
                execute(next(script for script in self.hooks.values() if "'total '" in script), 1)
            elif kind == "pc":
                self.pc = values[0]
            elif kind == "die":
                os._exit(3)


class Server(xmlrpc.server.SimpleXMLRPCServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), logRequests=False, allow_none=False)
        self.machine = Machine()
        self.register_function(self.run_keyword)

    def run_keyword(self, name, arguments):
        try:
            if name == "ExecuteCommand":
                return {"status": "PASS", "return": self.machine.command(*arguments)}
            {"ResetEmulation": self.machine.reset, "StartEmulation": self.machine.start}[name]()
            return {"status": "PASS"}
        except Exception as error:  # Like Renode: every failure is a reply.
            return {"status": "FAIL", "error": f"{type(error).__name__}: {error}", "traceback": ""}


def main():
    if SCRIPT.get("start") == "die":
        print("cannot start: no runtime")
        return 1
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    _append(CONFIG.with_name("pids.txt"), f"{os.getpid()} {child.pid}\n")
    if SCRIPT.get("start") == "silent":
        time.sleep(3600)
    assert sys.argv[1:] == ["--console", "--disable-gui", "--hide-log", "--robot-server-port", "0"], sys.argv
    temporary = pathlib.Path(tempfile.gettempdir())
    for folder in temporary.glob("renode-*"):
        shutil.rmtree(folder)
    server = Server()
    own = temporary / f"renode-{os.getpid()}"
    own.mkdir()
    (own / "robot_port").write_text(str(server.server_address[1]))
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
