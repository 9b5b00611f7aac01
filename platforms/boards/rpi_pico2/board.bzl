"""The Raspberry Pi Pico 2, with an RP2350A on its Arm cores, in Secure state: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "Raspberry Pi Pico 2 (RP2350A)",
    sources = ["RP2350 data sheet", "Raspberry Pi Pico 2 data sheet"],
    core = "cortex-m33",
    clock_hz = 150 * 1000 * 1000,
    memories = {
        # A serial flash behind a cache of 16 KiB. Wait states are not known: they depend on how the chip's ROM reads
        # it.
        "FLASH": memory(0x10000000, 4096 * _K),
        # SRAM0 to SRAM9, which are adjacent.
        "RAM": memory(0x20000000, 520 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 192 * _K, wait_states = 0),
        "MAILBOX": memory(0x20030000, 328 * _K, wait_states = 0),
    },
    # UART0.
    uart = uart("pl011", 0x40070000),
    console = "GP0 (TX) and GP1 (RX), 115,200 baud, 8N1; wire it to a debug probe or a serial adapter",
    flash = [
        "picotool load -x $IMAGE.elf",
        "openocd -f interface/cmsis-dap.cfg -f target/rp2350.cfg -c 'adapter speed 5000; program $IMAGE.elf verify reset exit'",
    ],
    # It has no model of the board: registers are memory, in which the bits that start-up code waits for are set.
    simulators = {
        "renode": {
            "models": [
                "reset_registers: Memory.ArrayMemory @ sysbus 0x40020000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x8 0x1fffffff",
                "",
                "clock_registers: Memory.ArrayMemory @ sysbus 0x40010000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x38 0x5",
                "        WriteDoubleWord 0x44 0x3",
                "",
                "function_registers: Memory.ArrayMemory @ sysbus 0x40028000",
                "    size: 0x400",
                "",
                "pad_registers: Memory.ArrayMemory @ sysbus 0x40038000",
                "    size: 0x400",
                "",
                "crystal_registers: Memory.ArrayMemory @ sysbus 0x40048000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x4 0x80000000",
                "",
                "pll_registers: Memory.ArrayMemory @ sysbus 0x40050000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x0 0x80000001",
            ],
        },
    },
    start = "start.c",
)
