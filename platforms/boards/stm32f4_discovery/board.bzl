"""ST's STM32F4 Discovery, with an STM32F407VG: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024
_CLOCK_HZ = 168 * 1000 * 1000

BOARD = struct(
    title = "STM32F4 Discovery (STM32F407VG)",
    sources = ["RM0090", "STM32F405/407 data sheet (DS8626)", "UM1472"],
    core = "cortex-m4",
    clock_hz = _CLOCK_HZ,
    memories = {
        # RM0090, table 5 and section 3.5.1: 5 wait states above 150 MHz, at 2.7 V to 3.6 V. The accelerator hides most of them.
        "FLASH": memory(0x08000000, 1024 * _K, wait_states = 5),
        # RM0090, section 2.3.1: SRAM1 and SRAM2, which are adjacent.
        "RAM": memory(0x20000000, 128 * _K, wait_states = 0),
        # The core's own data memory; no DMA reaches it.
        "CCM": memory(0x10000000, 64 * _K, wait_states = 0),
    },
    # Not CCM, which QEMU's model of the board lacks.
    runner_memories = {
        "RAM": memory(0x20000000, 64 * _K, wait_states = 0),
        "MAILBOX": memory(0x20010000, 64 * _K, wait_states = 0),
    },
    # USART2.
    uart = uart("stm32", 0x40004400),
    console = "PA2 (TX) and PA3 (RX), 115,200 baud, 8N1; wire it to a serial adapter, because the board's ST-LINK is not connected to it",
    flash = [
        "st-flash --reset write $IMAGE.bin 0x08000000",
        "openocd -f board/stm32f4discovery.cfg -c 'program $IMAGE.elf verify reset exit'",
    ],
    simulators = {
        # An STM32F405, whose memories, UARTs and clock are the same; it has no model of the clock tree. Its first UART is
        # USART1.
        "qemu": {
            "machine": "netduinoplus2",
            "options": [
                "-serial",
                "null",
            ],
        },
        "renode": {
            "models": [
                "calendar: Timers.STM32F4_RTC @ sysbus 0x40002800",
                "",
                "clocks: Miscellaneous.STM32F4_RCC @ sysbus 0x40023800",
                "    rtcPeripheral: calendar",
                "",
                "flash_registers: Memory.ArrayMemory @ sysbus 0x40023c00",
                "    size: 0x400",
            ],
        },
    },
    start = "start.c",
)
