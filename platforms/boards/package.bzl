"""`board_package`: the board() of a folder here, from its data in packages.bzl."""

load("//platforms:board.bzl", "board")
load("//platforms/boards:packages.bzl", "PACKAGES")

def board_package(name):
    """Declares the board.

    Args:
      name: the folder's name, and the board's.
    """
    package = PACKAGES[name]
    native.exports_files([package.start], visibility = ["//platforms/boards:__pkg__"])
    board(
        name = name,
        clock_hz = package.clock_hz,
        core = package.core,
        memories = package.memories,
        simulators = package.simulators,
        start = package.start,
        uart = package.uart,
        visibility = ["//visibility:public"],
    )
