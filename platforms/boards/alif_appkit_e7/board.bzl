"""Alif's AppKit-E7-AIML, on the high-performance Cortex-M55 of its Ensemble E7: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "AK-E7-AIML (Ensemble E7 AE722F80F55D5LS, RTSS-HP)",
    sources = ["Ensemble E7 Hardware Reference Manual", "Ensemble E7 data sheet"],
    core = "cortex-m55",
    clock_hz = 400 * 1000 * 1000,
    memories = {
        # Of the 5.5 MiB of MRAM, what Alif's tools give this core. Wait states are not known.
        "FLASH": memory(0x80200000, 2048 * _K),
        # The data TCM: as fast as the core, and not cached.
        "RAM": memory(0x20000000, 1024 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 384 * _K, wait_states = 0),
        "MAILBOX": memory(0x20060000, 640 * _K, wait_states = 0),
    },
    # UART4.
    uart = uart("ns16550", 0x4901c000),
    console = "P12_2 (TX) and P12_1 (RX), 115,200 baud, 8N1: over USB, with J15-A and J15-B at U4",
    # In the folder of Alif's SETOOLS, with J15-A and J15-B at SE. The table of contents is a JSON file that gives this
    # image "mramAddress": "0x80200000", "cpu_id": "M55_HP" and "flags": ["boot"].
    flash = [
        "cp $IMAGE.bin build/images/ && ./app-gen-toc -f build/config/image.json && ./app-write-mram",
    ],
    # It has models of the core and the UART. Other registers are memory. With an MPU, even if that is off, its
    # Cortex-M55 executes no code at the address of the MRAM, unlike the architecture's "system address map": so it gets
    # none.
    simulators = {
        "renode": {
            "models": [
                "cpu:",
                "    numberOfMPURegions: 0",
                "",
                "pin_registers: Memory.ArrayMemory @ sysbus 0x1a603000",
                "    size: 0x400",
                "",
                "clock_registers: Memory.ArrayMemory @ sysbus 0x4902f000",
                "    size: 0x400",
            ],
        },
    },
    start = "start.c",
)
