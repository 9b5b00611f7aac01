"""The table of simulators.

Each entry:
  title   its name in messages
  driver  the module in sim/ that runs it: see sim/README.md, "Adding a simulator"
  needs   the settings that a board has to give it, besides memories, UART and clock: name -> "string" or "strings"
          (a list). Those in `optional` may be left out.

Boards say which simulators run them: `simulators` in boards.bzl. The driver and a repository rule find the simulator:
third_party/qemu, third_party/renode.
"""

SIMULATORS = {
    "qemu": struct(
        title = "QEMU",
        driver = "sim.qemu.qemu",
        # QEMU has its own boards: the board's name there, and further command-line options.
        needs = {
            "machine": "string",
            "options": "strings",
        },
        optional = ["options"],
    ),
    "renode": struct(
        title = "Renode",
        driver = "sim.renode.renode",
        # Renode gets a description of the board: sim/renode/repl.py. Further lines of it: models of what start-up code waits for.
        needs = {"models": "strings"},
        optional = ["models"],
    ),
}
