"""`board_package`: the board() of a folder here, from its data in packages.bzl."""

load("//platforms:board.bzl", "board")
load("//platforms/boards:packages.bzl", "PACKAGES")

def board_package(name):
    """Declares the board, and as NAME_runner the same with a MAILBOX, for //runtime:NAME_serial.

    Args:
      name: the folder's name, and the board's.
    """
    package = PACKAGES[name]
    native.exports_files([package.start], visibility = ["//platforms/boards:__pkg__"])
    runner_memories = dict(package.runner_memories, FLASH = package.memories["FLASH"])
    for suffix, memories in [("", package.memories), ("_runner", runner_memories)]:
        board(
            name = name + suffix,
            clock_hz = package.clock_hz,
            core = package.core,
            memories = memories,
            simulators = package.simulators,
            start = package.start,
            uart = package.uart,
            visibility = ["//visibility:public"],
        )
