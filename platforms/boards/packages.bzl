"""The boards of this folder, by name. Each is a struct in its own folder with the fields that ../boards.bzl describes, and

  title            how its maker calls it
  runner_memories  those but FLASH of the board NAME_runner, whose MAILBOX takes jobs over the serial line
  console          the pins of the UART, and where they lead
  flash            commands that write an image, $IMAGE.elf, .bin or .hex, to the board, and start it
  sources          the documents that its figures, and the registers in its start-up code, are from
"""

load("//platforms/boards/alif_appkit_e7:board.bzl", ALIF_APPKIT_E7 = "BOARD")
load("//platforms/boards/ek_ra8m1:board.bzl", EK_RA8M1 = "BOARD")
load("//platforms/boards/frdm_k64f:board.bzl", FRDM_K64F = "BOARD")
load("//platforms/boards/nrf52840dk:board.bzl", NRF52840DK = "BOARD")
load("//platforms/boards/nucleo_l4r5zi:board.bzl", NUCLEO_L4R5ZI = "BOARD")
load("//platforms/boards/nucleo_u575zi:board.bzl", NUCLEO_U575ZI = "BOARD")
load("//platforms/boards/rpi_pico:board.bzl", RPI_PICO = "BOARD")
load("//platforms/boards/rpi_pico2:board.bzl", RPI_PICO2 = "BOARD")
load("//platforms/boards/stm32f4_discovery:board.bzl", STM32F4_DISCOVERY = "BOARD")
load("//platforms/boards/stm32f746g_disco:board.bzl", STM32F746G_DISCO = "BOARD")

PACKAGES = {
    "alif_appkit_e7": ALIF_APPKIT_E7,
    "ek_ra8m1": EK_RA8M1,
    "frdm_k64f": FRDM_K64F,
    "nrf52840dk": NRF52840DK,
    "nucleo_l4r5zi": NUCLEO_L4R5ZI,
    "nucleo_u575zi": NUCLEO_U575ZI,
    "rpi_pico": RPI_PICO,
    "rpi_pico2": RPI_PICO2,
    "stm32f4_discovery": STM32F4_DISCOVERY,
    "stm32f746g_disco": STM32F746G_DISCO,
}
