"""The table of simulators.

Each entry:
  title   as people write it
  driver  the module in sim/ that runs it: see sim/README.md, "Adding a simulator"
  needs   what a board that it runs has to say, besides its memories, UART and clock: name -> "string" or "strings"
          (a list). Those of `optional` may be left out.

Which boards a simulator runs is a matter of the boards: `simulators` of boards.bzl. Where a simulator is found is its
driver's and a repository rule's: third_party/qemu, third_party/renode.
"""

SIMULATORS = {
    "qemu": struct(
        title = "QEMU",
        driver = "sim.qemu.qemu",
        # The board is one of its own: its name, and further options of the command line.
        needs = {
            "machine": "string",
            "options": "strings",
        },
        optional = ["options"],
    ),
    "renode": struct(
        title = "Renode",
        driver = "sim.renode.renode",
        # The board is described to it: sim/renode/repl.py.
        needs = {},
        optional = [],
    ),
}
