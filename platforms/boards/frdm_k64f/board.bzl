"""NXP's FRDM-K64F, with an MK64FN1M0VLL12: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "FRDM-K64F (MK64FN1M0VLL12)",
    sources = ["K64P144M120SF5RM", "K64 data sheet (K64P144M120SF5)", "FRDM-K64F user's guide"],
    core = "cortex-m4",
    clock_hz = 120 * 1000 * 1000,
    memories = {
        # K64P144M120SF5RM, "FMC", B0RWSC: a read takes as many cycles as the core has in one of the flash, here 5. The
        # cache and the speculation buffer hide most of them.
        "FLASH": memory(0x00000000, 1024 * _K, wait_states = 4),
        # SRAM_U. SRAM_L ends where it begins, but no access may cross that boundary.
        "RAM": memory(0x20000000, 192 * _K, wait_states = 0),
        "SRAM_L": memory(0x1fff0000, 64 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x1fff0000, 64 * _K, wait_states = 0),
        "MAILBOX": memory(0x20000000, 192 * _K, wait_states = 0),
    },
    # UART0.
    uart = uart("kinetis", 0x4006a000),
    console = "PTB17 (TX) and PTB16 (RX), 115,200 baud, 8N1: a serial port of the board's OpenSDA debugger over USB",
    flash = [
        "pyocd flash --target k64f $IMAGE.hex",
        "openocd -f interface/cmsis-dap.cfg -f target/kx.cfg -c 'program $IMAGE.elf verify reset exit'",
    ],
    # It has models of the clocks and their gates. The registers of the watchdog and of the pins are memory.
    simulators = {
        "renode": {
            "models": [
                "clocks: Miscellaneous.K6xF_MCG @ sysbus 0x40064000",
                "",
                "gates: Miscellaneous.K6xF_SIM @ sysbus 0x40047000",
                "",
                "port_registers: Memory.ArrayMemory @ sysbus 0x4004a000",
                "    size: 0x400",
                "",
                "watchdog_registers: Memory.ArrayMemory @ sysbus 0x40052000",
                "    size: 0x400",
            ],
        },
    },
    start = "start.c",
)
