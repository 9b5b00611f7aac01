"""The table of boards. cores.bzl says which of them the images of a core are linked for.

Each entry of BOARDS has the arguments of board() in board.bzl, which describes the fields, but for the name:
  core        the board's core, as in -mcpu; cores.bzl says which images run on it
  clock_hz    frequency of the core and its SysTick
  memories    name -> memory(origin, size in bytes, wait states); the linker script uses the same names
  uart        uart(type, address): the simulations communicate through it
  simulators  the simulators (simulators.bzl) that run images for the board, with the settings of each; {} if none does

Those here exist to be simulated. Those that people own are in boards/, a folder each, and have start-up code of their
own, `start`. BOARDS has both.

Users describe their own boards in their own repositories: README.md, "A board of your own".

On cores that start in Secure state (an505, an547), addresses are those of the Secure alias. Clocks and memory maps are
those of QEMU's machines, which model Arm's FPGA images of the same names. Wait states are None: we have no source to
cite for them, and the simulators count instructions, not cycles.
"""

load("//platforms:board.bzl", "memory", "uart")
load("//platforms:cores.bzl", "CORES")
load("//platforms/boards:packages.bzl", "PACKAGES")

# The drivers platforms/bsp/uart_<type>.h.
UARTS = ["cmsdk", "kinetis", "nrf51", "ns16550", "pl011", "ra_sci_b", "stm32", "stm32_isr"]

_K = 1024
_M = 1024 * 1024

SIMULATED = {
    # The board has 256 KiB of flash and 16 KiB of RAM; QEMU takes any sizes.
    "microbit": struct(
        core = "cortex-m0",
        clock_hz = 16 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x00000000, 4 * _M),
            "RAM": memory(0x20000000, 4 * _M),
            "MAILBOX": memory(0x20400000, 16 * _M),  # also nRF51's RAM
        },
        uart = uart("nrf51", 0x40002000),
        simulators = {
            "qemu": {
                "machine": "microbit",
                "options": [
                    "-global",
                    "nrf51-soc.flash-size=%d" % (4 * _M),
                    "-global",
                    "nrf51-soc.sram-size=%d" % (20 * _M),
                ],
            },
            "renode": {},
        },
    ),
    "mps2_an385": struct(
        core = "cortex-m3",
        clock_hz = 25 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x00000000, 4 * _M),  # ZBT SSRAM 1
            "RAM": memory(0x20000000, 4 * _M),  # ZBT SSRAM 2 and 3
            "MAILBOX": memory(0x21000000, 16 * _M),  # PSRAM
        },
        uart = uart("cmsdk", 0x40004000),
        simulators = {
            "qemu": {"machine": "mps2-an385"},
            "renode": {},
        },
    ),
    "mps2_an386": struct(
        core = "cortex-m4",
        clock_hz = 25 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x00000000, 4 * _M),
            "RAM": memory(0x20000000, 4 * _M),
            "MAILBOX": memory(0x21000000, 16 * _M),
        },
        uart = uart("cmsdk", 0x40004000),
        simulators = {
            "qemu": {"machine": "mps2-an386"},
            "renode": {},
        },
    ),
    "mps2_an500": struct(
        core = "cortex-m7",
        clock_hz = 25 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x00000000, 4 * _M),
            "RAM": memory(0x20000000, 4 * _M),
            "MAILBOX": memory(0x60000000, 16 * _M),
        },
        uart = uart("cmsdk", 0x40004000),
        simulators = {
            "qemu": {"machine": "mps2-an500"},
            "renode": {},
        },
    ),
    "mps2_an505": struct(
        core = "cortex-m33",
        clock_hz = 20 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x10000000, 4 * _M),  # SSRAM 1
            "RAM": memory(0x38000000, 2 * _M),  # SSRAM 2
            "MAILBOX": memory(0x80000000, 16 * _M),  # PSRAM, without a protection controller
        },
        uart = uart("cmsdk", 0x50200000),
        simulators = {
            "qemu": {"machine": "mps2-an505"},
            "renode": {},
        },
    ),
    "mps3_an547": struct(
        core = "cortex-m55",
        clock_hz = 32 * 1000 * 1000,
        memories = {
            "FLASH": memory(0x00000000, 512 * _K),  # ITCM
            "RAM": memory(0x20000000, 512 * _K),  # DTCM
            "SRAM": memory(0x21000000, 4 * _M),  # SRAM 2
            "MAILBOX": memory(0x70000000, 16 * _M),  # the first part of 2 GiB DDR4
        },
        uart = uart("cmsdk", 0x49303000),
        simulators = {
            "qemu": {"machine": "mps3-an547"},
            "renode": {},
        },
    ),
}

BOARDS = dict(SIMULATED, **PACKAGES)

def board_label(name):
    """Returns the label of the board()."""
    return "//platforms/boards/" + name if name in PACKAGES else "//platforms:" + name

def _core_of(board):
    """Returns the name of the board's core, or, if images are not built for that, of the first whose images run on it."""
    own = [name for name, core in CORES.items() if core.cpu == board.core]
    return (own + [name for name, core in CORES.items() if board.core in core.also_runs_on])[0]

def other_boards():
    """Maps the boards that are not the default of any core to the core that images are built for."""
    defaults = [core.board for core in CORES.values()]
    return {name: _core_of(board) for name, board in BOARDS.items() if name not in defaults}
