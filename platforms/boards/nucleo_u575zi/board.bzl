"""ST's NUCLEO-U575ZI-Q, without TrustZone (TZEN is 0, as delivered): see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "NUCLEO-U575ZI-Q",
    sources = ["RM0456", "STM32U575 data sheet (DS13737)", "UM2861"],
    core = "cortex-m33",
    clock_hz = 160 * 1000 * 1000,
    memories = {
        # RM0456, "FLASH", read access latency: 4 wait states above 128 MHz in range 1. The cache hides most of them.
        "FLASH": memory(0x08000000, 2048 * _K, wait_states = 4),
        # SRAM1, SRAM2 and SRAM3, which are adjacent.
        "RAM": memory(0x20000000, 768 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 256 * _K, wait_states = 0),
        "MAILBOX": memory(0x20040000, 512 * _K, wait_states = 0),
    },
    # USART1.
    uart = uart("stm32_isr", 0x40013800),
    console = "PA9 (TX) and PA10 (RX), 115,200 baud, 8N1: a serial port of the board's ST-LINK over USB",
    flash = [
        "STM32_Programmer_CLI -c port=SWD -w $IMAGE.elf -v -rst",
        "pyocd flash --target stm32u575zitx $IMAGE.hex",
    ],
    # It has no model of the board: registers are memory, in which the bits that start-up code waits for are set.
    simulators = {
        "renode": {
            "models": [
                "flash_registers: Memory.ArrayMemory @ sysbus 0x40022000",
                "    size: 0x400",
                "",
                "cache_registers: Memory.ArrayMemory @ sysbus 0x40030400",
                "    size: 0x400",
                "",
                "port_registers: Memory.ArrayMemory @ sysbus 0x42020000",
                "    size: 0x400",
                "",
                "power_registers: Memory.ArrayMemory @ sysbus 0x46020800",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0xc 0xc000",
                "",
                "clock_registers: Memory.ArrayMemory @ sysbus 0x46020c00",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x0 0x02000400",
                "        WriteDoubleWord 0x1c 0xc",
            ],
        },
    },
    start = "start.c",
)
