"""A network on the boards that people own: the bytes and the counted instructions of the core's default board, in every
simulator that has the board."""

import functools
import pathlib

import pytest

from sim import boards, simulator

HERE = pathlib.Path(__file__).parent
IMAGES = sorted(path for path in HERE.glob("image_*.elf"))
RUNS = [(path, name) for path in IMAGES for name in boards.board_of(path, path.stem[6:]).simulators]


@functools.cache
def default(cpu, name):
    """Returns the result of the core's default board in the simulator `name`, which is selected."""
    assert simulator.selected() == name
    return simulator.run(HERE / f"{cpu.replace('-', '_')}.elf")


def test_there_are_boards():
    assert RUNS


@pytest.mark.parametrize("image, name", RUNS, ids=lambda value: getattr(value, "stem", value))
def test_a_board_computes_what_the_others_do(image, name, monkeypatch):
    monkeypatch.setenv("CND_SIMULATOR", name)
    try:
        simulator.create()
    except simulator.SimulatorError as error:
        pytest.skip(str(error))
    board = boards.board_of(image, image.stem[6:])
    found = simulator.run(image)
    expected = default(board.core, name)
    for result in (found, expected):
        assert (result.status, result.exit_code) == ("exit", 0), result.explain()
    assert found.core == expected.core
    assert found.uart == expected.uart
    assert len(found.uart.split()) > 10
    if found.regions is None:
        pytest.skip(found.counter_note)
    counts = [region.instructions for region in found.regions]
    assert counts == [region.instructions for region in expected.regions]
    assert min(counts) > 1000
    print(f"{board.name} in {found.simulator}: {counts[0]:,} instructions an inference")
