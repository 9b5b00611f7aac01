"""The boards that images are linked for and simulated on, as data. BUILD exports them as boards.json.

Each entry:
  machine    QEMU's name of the board
  memories   name -> (origin, size in bytes); the linker script has the same names:
               FLASH    vectors, code, constants, initial values of .data
               RAM      .data, .bss, the arena, the stack
               MAILBOX  where the simulator loads a job; neither initialised nor zeroed
  uart       base address of the UART that carries the protocol
  uart_type  "cmsdk" (CMSDK APB UART) or "nrf51": the drivers are platforms/bsp/uart_<type>.h
  instructions_per_tick
             executed instructions per SysTick tick in the simulators, where an instruction takes 1 ns of
             virtual time: 1e9 / the board's core clock (25, 20, 32 or 16 MHz)
  qemu_options
             what QEMU needs besides the machine's name

sim/renode/repl.py makes Renode's platform files of the same table.

Addresses are those of the Secure alias where the core starts Secure (an505, an547).
"""

_K = 1024
_M = 1024 * 1024

BOARDS = {
    # A Cortex-M0, with the instruction set of a Cortex-M0+. The board has 256 KiB of flash and 16 KiB of RAM; QEMU
    # takes any sizes.
    "microbit": struct(
        machine = "microbit",
        memories = {
            "FLASH": (0x00000000, 4 * _M),
            "RAM": (0x20000000, 4 * _M),
            "MAILBOX": (0x20400000, 16 * _M),  # also nRF51's RAM
        },
        uart = 0x40002000,
        uart_type = "nrf51",
        instructions_per_tick = 62.5,
        qemu_options = [
            "-global",
            "nrf51-soc.flash-size=%d" % (4 * _M),
            "-global",
            "nrf51-soc.sram-size=%d" % (20 * _M),
        ],
    ),
    "mps2_an385": struct(
        machine = "mps2-an385",
        memories = {
            "FLASH": (0x00000000, 4 * _M),  # ZBT SSRAM 1
            "RAM": (0x20000000, 4 * _M),  # ZBT SSRAM 2 and 3
            "MAILBOX": (0x21000000, 16 * _M),  # PSRAM
        },
        uart = 0x40004000,
        uart_type = "cmsdk",
        instructions_per_tick = 40.0,
        qemu_options = [],
    ),
    "mps2_an386": struct(
        machine = "mps2-an386",
        memories = {
            "FLASH": (0x00000000, 4 * _M),
            "RAM": (0x20000000, 4 * _M),
            "MAILBOX": (0x21000000, 16 * _M),
        },
        uart = 0x40004000,
        uart_type = "cmsdk",
        instructions_per_tick = 40.0,
        qemu_options = [],
    ),
    "mps2_an500": struct(
        machine = "mps2-an500",
        memories = {
            "FLASH": (0x00000000, 4 * _M),
            "RAM": (0x20000000, 4 * _M),
            "MAILBOX": (0x60000000, 16 * _M),
        },
        uart = 0x40004000,
        uart_type = "cmsdk",
        instructions_per_tick = 40.0,
        qemu_options = [],
    ),
    "mps2_an505": struct(
        machine = "mps2-an505",
        memories = {
            "FLASH": (0x10000000, 4 * _M),  # SSRAM 1
            "RAM": (0x38000000, 2 * _M),  # SSRAM 2
            "MAILBOX": (0x80000000, 16 * _M),  # PSRAM, behind no protection controller
        },
        uart = 0x50200000,
        uart_type = "cmsdk",
        instructions_per_tick = 50.0,
        qemu_options = [],
    ),
    "mps3_an547": struct(
        machine = "mps3-an547",
        memories = {
            "FLASH": (0x00000000, 512 * _K),  # ITCM
            "RAM": (0x20000000, 512 * _K),  # DTCM
            "MAILBOX": (0x70000000, 16 * _M),  # the first part of 2 GiB DDR4
        },
        uart = 0x49303000,
        uart_type = "cmsdk",
        instructions_per_tick = 31.25,
        qemu_options = [],
    ),
}
