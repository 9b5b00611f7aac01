"""The Raspberry Pi Pico, with an RP2040: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "Raspberry Pi Pico (RP2040)",
    sources = ["RP2040 data sheet", "Raspberry Pi Pico data sheet"],
    core = "cortex-m0plus",
    clock_hz = 125 * 1000 * 1000,
    memories = {
        # A serial flash behind a cache of 16 KiB. Its first 256 bytes are for the chip's ROM: see start.c. A word that
        # is not in the cache takes 64 bits at 31.25 MHz: command, address and data. Commands with four lines are
        # faster, but each flash has its own.
        "FLASH": memory(0x10000000, 2048 * _K),
        # SRAM0 to SRAM5, which are adjacent.
        "RAM": memory(0x20000000, 264 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 96 * _K, wait_states = 0),
        "MAILBOX": memory(0x20018000, 168 * _K, wait_states = 0),
    },
    # UART0.
    uart = uart("pl011", 0x40034000),
    console = "GP0 (TX) and GP1 (RX), 115,200 baud, 8N1; wire it to a debug probe or a serial adapter",
    flash = [
        "picotool load -x $IMAGE.elf",
        "openocd -f interface/cmsis-dap.cfg -f target/rp2040.cfg -c 'adapter speed 5000; program $IMAGE.elf verify reset exit'",
    ],
    # It has no model of the board: registers are memory, in which the bits that start-up code waits for are set.
    simulators = {
        "renode": {
            "models": [
                "clock_registers: Memory.ArrayMemory @ sysbus 0x40008000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x38 0x5",
                "        WriteDoubleWord 0x44 0x3",
                "",
                "reset_registers: Memory.ArrayMemory @ sysbus 0x4000c000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x8 0x1ffffff",
                "",
                "function_registers: Memory.ArrayMemory @ sysbus 0x40014000",
                "    size: 0x400",
                "",
                "pad_registers: Memory.ArrayMemory @ sysbus 0x4001c000",
                "    size: 0x400",
                "",
                "crystal_registers: Memory.ArrayMemory @ sysbus 0x40024000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x4 0x80000000",
                "",
                "pll_registers: Memory.ArrayMemory @ sysbus 0x40028000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x0 0x80000001",
            ],
        },
    },
    start = "start.c",
)
