"""ST's 32F746GDISCOVERY: see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "32F746GDISCOVERY (STM32F746NG)",
    sources = ["RM0385", "STM32F746 data sheet (DS10916)", "UM1907"],
    core = "cortex-m7",
    clock_hz = 216 * 1000 * 1000,
    memories = {
        # RM0385, "FLASH": 7 wait states above 210 MHz, at 2.7 V to 3.6 V. This is its address on the AXI bus, behind the
        # core's caches.
        "FLASH": memory(0x08000000, 1024 * _K, wait_states = 7),
        # The data TCM: as fast as the core, and not cached.
        "RAM": memory(0x20000000, 64 * _K, wait_states = 0),
        # SRAM1 and SRAM2, which are adjacent, on the AXI bus behind the data cache. Wait states are not known.
        "SRAM": memory(0x20010000, 256 * _K),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 64 * _K, wait_states = 0),
        "MAILBOX": memory(0x20010000, 256 * _K),
    },
    # USART1.
    uart = uart("stm32_isr", 0x40011000),
    console = "PA9 (TX) and PB7 (RX), 115,200 baud, 8N1: a serial port of the board's ST-LINK over USB",
    flash = [
        "st-flash --reset write $IMAGE.bin 0x08000000",
        "openocd -f board/stm32f746g-disco.cfg -c 'program $IMAGE.elf verify reset exit'",
    ],
    # Its model of the clocks is that of the STM32F4. The registers of the supply are memory, in which the bits that
    # start-up code waits for are set.
    simulators = {
        "renode": {
            "models": [
                "calendar: Timers.STM32F4_RTC @ sysbus 0x40002800",
                "",
                "clocks: Miscellaneous.STM32F4_RCC @ sysbus <0x40023800, +0x90>",
                "    rtcPeripheral: calendar",
                "",
                "flash_registers: Memory.ArrayMemory @ sysbus 0x40023c00",
                "    size: 0x400",
                "",
                "port_registers: Memory.ArrayMemory @ sysbus 0x40020000",
                "    size: 0x400",
                "",
                "power_registers: Memory.ArrayMemory @ sysbus 0x40007000",
                "    size: 0x400",
                "    init:",
                "        WriteDoubleWord 0x4 0x30000",
            ],
        },
    },
    start = "start.c",
)
