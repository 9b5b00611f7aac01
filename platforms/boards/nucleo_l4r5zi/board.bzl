"""ST's NUCLEO-L4R5ZI, on which MLPerf Tiny's reference results were measured: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "NUCLEO-L4R5ZI",
    sources = ["RM0432", "STM32L4R5 data sheet (DS12023)", "UM2179"],
    core = "cortex-m4",
    clock_hz = 120 * 1000 * 1000,
    memories = {
        # RM0432, "FLASH", read access latency: 5 wait states above 100 MHz, in range 1 boost mode. The accelerator hides
        # most of them.
        "FLASH": memory(0x08000000, 2048 * _K, wait_states = 5),
        # SRAM1, SRAM2 at its second address, and SRAM3, which are adjacent there: RM0432, "Memory organization".
        "RAM": memory(0x20000000, 640 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 256 * _K, wait_states = 0),
        "MAILBOX": memory(0x20040000, 384 * _K, wait_states = 0),
    },
    # LPUART1.
    uart = uart("stm32_isr", 0x40008000),
    console = "PG7 (TX) and PG8 (RX), 115,200 baud, 8N1: a serial port of the board's ST-LINK over USB",
    flash = [
        "st-flash --reset write $IMAGE.bin 0x08000000",
        "openocd -f board/st_nucleo_l4.cfg -c 'program $IMAGE.elf verify reset exit'",
    ],
    # It has no model of the board: registers are memory, in which the bits that start-up code waits for are set.
    simulators = {
        "renode": {
            "models": [
                "flash_registers: Memory.ArrayMemory @ sysbus 0x40022000",
                "    size: 0x400",
                "",
                "power_registers: Memory.ArrayMemory @ sysbus 0x40007000",
                "    size: 0x400",
                "",
                "port_registers: Memory.ArrayMemory @ sysbus 0x48001800",
                "    size: 0x400",
                "",
                "clock_registers: Memory.ArrayMemory @ sysbus 0x40021000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x0 0x02000400",
                "        WriteDoubleWord 0x8 0xc",
            ],
        },
    },
    start = "start.c",
)
