"""Nordic's nRF52840 DK (PCA10056): see ../packages.bzl."""

load("//platforms:board.bzl", "memory", "uart")

_K = 1024

BOARD = struct(
    title = "nRF52840 DK (PCA10056)",
    sources = ["nRF52840 product specification", "nRF52840 DK user guide"],
    core = "cortex-m4",
    clock_hz = 64 * 1000 * 1000,
    memories = {
        # Wait states are not known: the specification has no figure for a read that misses the cache.
        "FLASH": memory(0x00000000, 1024 * _K),
        "RAM": memory(0x20000000, 256 * _K, wait_states = 0),
    },
    runner_memories = {
        "RAM": memory(0x20000000, 96 * _K, wait_states = 0),
        "MAILBOX": memory(0x20018000, 160 * _K, wait_states = 0),
    },
    # UART0 without DMA, which is that of the nRF51.
    uart = uart("nrf51", 0x40002000),
    console = "P0.06 (TX) and P0.08 (RX), 115,200 baud, 8N1: a serial port of the board's debugger over USB",
    flash = [
        "nrfjprog --program $IMAGE.hex --sectorerase --verify --reset",
        "pyocd flash --target nrf52840 $IMAGE.hex",
    ],
    simulators = {
        "renode": {
            "models": [
                "oscillators: Miscellaneous.NRF_CLOCK @ sysbus 0x40000000",
            ],
        },
    },
    start = "start.c",
)
