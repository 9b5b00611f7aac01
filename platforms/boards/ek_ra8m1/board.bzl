"""Renesas's EK-RA8M1, with an R7FA8M1AHECBD, in Secure state: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "EK-RA8M1 (R7FA8M1AHECBD)",
    sources = ["RA8M1 Group User's Manual: Hardware", "EK-RA8M1 v1 User's Manual"],
    core = "cortex-m85",
    clock_hz = 480 * 1000 * 1000,
    memories = {
        # The code flash, behind the flash cache and the core's. Its 4 wait cycles are of the bus, at half of the core's
        # clock. Images do not contain the option-setting memory, which stays as it is: TrustZone and the watchdogs as
        # delivered.
        "FLASH": memory(0x02000000, 2016 * _K),
        # The data TCM: as fast as the core, and not cached.
        "RAM": memory(0x20000000, 64 * _K, wait_states = 0),
        # SRAM0 and SRAM1, which are adjacent, behind the data cache. Wait states are not known.
        "SRAM": memory(0x22000000, 896 * _K),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 64 * _K, wait_states = 0),
        "MAILBOX": memory(0x22000000, 896 * _K),
    },
    # SCI9.
    uart = uart("ra_sci_b", 0x40358900),
    console = "PA14 (TX) and PA15 (RX), 115,200 baud, 8N1: a serial port of the board's J-Link over USB",
    flash = [
        "rfp-cli -tool jlink -interface swd -device ra -p -run -file $IMAGE.hex",
        "pyocd flash --target r7fa8m1ah $IMAGE.hex",
    ],
    # It has models of the core and the UART. Registers are memory, in which the bits that start-up code waits for are
    # set.
    simulators = {
        "renode": {
            "models": [
                "sram_registers: Memory.ArrayMemory @ sysbus 0x40002000",
                "    size: 0x400",
                "",
                "cache_registers: Memory.ArrayMemory @ sysbus 0x4001c100",
                "    size: 0x100",
                "",
                "system_registers: Memory.ArrayMemory @ sysbus 0x4001e000",
                "    size: 0x1000",
                "    init:",
                "        WriteDoubleWord 0x3c 0x28",
                "        WriteDoubleWord 0x54 0x8000",
                "",
                "module_registers: Memory.ArrayMemory @ sysbus 0x40203000",
                "    size: 0x400",
                "",
                "port_registers: Memory.ArrayMemory @ sysbus 0x40400800",
                "    size: 0x800",
                "",
                "core_registers: Memory.ArrayMemory @ sysbus 0xe001e000",
                "    size: 0x400",
            ],
        },
    },
    start = "start.c",
)
