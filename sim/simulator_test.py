"""Which simulator runs an image: depends on the choice, on what is installed, and on what it can run."""

import dataclasses
import json
import pathlib
import shutil

import pytest

from sim import auto, both, simulator
from sim.elf import Elf
from sim.regions import Region
from sim.simulator import Result, SimulatorError

M4 = pathlib.Path("platforms/bsp/selftest/cortex_m4.elf")
IMAGE = (Elf(M4), simulator.board_of(Elf(M4)))

RESULT = Result(
    status="exit",
    exit_code=0,
    uart="##RUN\n##EXEC set=0 ticks=12\n##EXIT rc=0##\n",
    ticks_to_instructions=40.0,
    simulator="one",
    core="cortex-m4",
    counter="hooks",
    counter_note="",
    regions=[Region(10, 30, [Region(12, 20)])],
    total_instructions=100,
    diagnostics="",
)
TIMELESS = "##EXIT rc=0##\n"


class Fake(simulator.Simulator):
    """Returns `result` for every image; refuses every image if there is a `refusal`."""

    def __init__(self, result=RESULT, refusal=""):
        self.result = result
        self.refusal = refusal

    def require(self, elf):
        if self.refusal:
            raise SimulatorError(self.refusal)

    def run(self, elf, board, job, timeout_s, count):
        return self.result

    def interactive_command(self, elf, board, job_path, gdb_port):
        return ["run", self.result.simulator]


@pytest.fixture
def installed(monkeypatch):
    """Replaces the installed simulators by these drivers; None is a missing one."""

    def install(**drivers):
        real = simulator.create

        def create(name=None):
            if name in drivers:
                if drivers[name] is None:
                    raise SimulatorError(f"{name} is absent")
                return drivers[name]
            return real(name)

        monkeypatch.setattr(simulator, "create", create)
        auto._renode.cache_clear()
        auto._warn.cache_clear()

    yield install
    auto._renode.cache_clear()


def changed(**fields):
    return dataclasses.replace(RESULT, **fields)


# --- The choice of the user -----------------------------------------------------------------------


def test_unknown_simulator(monkeypatch):
    monkeypatch.setenv("CND_SIMULATOR", "hardware")
    with pytest.raises(SimulatorError, match="unknown simulator 'hardware'; choose one of auto, both, .*qemu"):
        simulator.run(M4)


def test_unknown_board():
    with pytest.raises(ValueError, match="unknown board 'mps9'; choose one of microbit, mps2_an385"):
        simulator.run(M4, board="mps9")


def test_the_variable_comes_before_bazel(monkeypatch, tmp_path):
    monkeypatch.delenv("CND_SIMULATOR", raising=False)
    configured = tmp_path / "selected.json"
    monkeypatch.setattr(simulator, "_SELECTED", configured)
    assert simulator.selected() == "auto"
    configured.write_text('{"simulator": "both"}')
    assert simulator.selected() == "both"
    monkeypatch.setenv("CND_SIMULATOR", "qemu")
    assert simulator.selected() == "qemu"


def test_what_a_test_declares_comes_last(monkeypatch, tmp_path):
    monkeypatch.delenv("CND_SIMULATOR", raising=False)
    monkeypatch.setenv("CND_TEST_SIMULATOR", "every")
    configured = tmp_path / "selected.json"
    monkeypatch.setattr(simulator, "_SELECTED", configured)
    assert simulator.selected() == "every"
    configured.write_text('{"simulator": "qemu"}')
    assert simulator.selected() == "qemu"
    configured.write_text('{"simulator": "auto"}')
    assert simulator.selected() == "every"
    monkeypatch.setenv("CND_SIMULATOR", "auto")
    assert simulator.selected() == "auto"


@pytest.mark.parametrize("name", ["renode", "both"])
def test_asked_for_and_absent_is_an_error(monkeypatch, tmp_path, name):
    monkeypatch.setenv("RENODE", str(tmp_path / "absent"))
    monkeypatch.setenv("CND_SIMULATOR", name)
    with pytest.raises(SimulatorError, match="Renode was not found: there is no program .*absent"):
        simulator.run(M4)


# --- Boards ---------------------------------------------------------------------------------------


def copied_with(tmp_path, **fields):
    """Copies the image to another folder, with a description of its board in which `fields` are changed."""
    shutil.copy(M4, tmp_path / "image.elf")
    shutil.copy(M4.with_suffix(".board.json"), tmp_path / "image.board.json")
    description = json.loads((tmp_path / "image.board.json").read_text())
    (tmp_path / "image.board.json").write_text(json.dumps({**description, **fields}))
    return tmp_path / "image.elf"


def test_the_description_beside_an_image_comes_before_the_table(tmp_path):
    board = simulator.board_of(Elf(copied_with(tmp_path, clock_hz=10_000_000)))
    assert (board.name, board.instructions_per_tick) == ("mps2_an386", 100.0)
    (tmp_path / "image.board.json").unlink()
    assert simulator.board_of(Elf(tmp_path / "image.elf")) == simulator.get_board("mps2_an386")


def test_a_description_of_another_board(tmp_path):
    image = copied_with(tmp_path, name="mine")
    with pytest.raises(SimulatorError, match="describes the board mine, but image.elf was linked for mps2-an386"):
        simulator.run(image)


def test_an_image_for_a_board_that_nobody_describes(tmp_path):
    image = copied_with(tmp_path)
    (tmp_path / "image.board.json").unlink()
    image.write_bytes(image.read_bytes().replace(b"mps2-an386", b"mps2-an999"))
    with pytest.raises(
        SimulatorError,
        match="unknown board 'mps2-an999'; .* writes the description as image.board.json beside the image",
    ):
        simulator.run(image)


@pytest.mark.parametrize("simulators, said", [({}, "nor by any other simulator"), ({"renode": {}}, "only by renode")])
@pytest.mark.parametrize("asked", ["qemu", "auto"])
def test_a_board_that_is_not_simulated(installed, monkeypatch, tmp_path, asked, simulators, said):
    installed(renode=None)
    monkeypatch.setenv("CND_SIMULATOR", asked)
    if asked == "auto" and simulators:
        said = "renode is absent"  # which could
    with pytest.raises(SimulatorError, match=said):
        simulator.run(copied_with(tmp_path, simulators=simulators))


def test_auto_says_nothing_where_the_board_leaves_no_choice(installed, tmp_path):
    installed(renode=Fake(), qemu=Fake(changed(simulator="other")))
    elf = Elf(copied_with(tmp_path, simulators={"qemu": {"machine": "mps2-an386"}}))
    result = simulator.create("auto").run(elf, simulator.board_of(elf), None, 1, True)
    assert (result.simulator, result.simulator_note) == ("other", "")


# --- auto -----------------------------------------------------------------------------------------


def test_auto_prefers_renode(installed):
    installed(renode=Fake(), qemu=Fake(changed(simulator="other")))
    result = simulator.create("auto").run(*IMAGE, None, 1, True)
    assert (result.simulator, result.simulator_note) == ("one", "")


@pytest.mark.parametrize("renode, reason", [(None, "renode is absent"), (Fake(refusal="too old"), "too old")])
def test_auto_falls_back_and_says_why(installed, renode, reason):
    installed(renode=renode, qemu=Fake(changed(simulator="other")))
    driver = simulator.create("auto")
    with pytest.warns(auto.SimulatorChoice, match=reason):
        result = driver.run(*IMAGE, None, 1, True)
    assert result.simulator == "other"
    assert result.simulator_note == f"QEMU runs this instead of Renode: {reason}"
    assert driver.interactive_command(*IMAGE, None, None) == ["run", "other"]


def test_auto_without_any_simulator(installed):
    installed(renode=None, qemu=None)
    with pytest.raises(SimulatorError, match="qemu is absent"):
        simulator.create("auto").run(*IMAGE, None, 1, True)


# --- fast and every -------------------------------------------------------------------------------


def test_fast_prefers_qemu(installed, tmp_path):
    installed(renode=Fake(), qemu=Fake(changed(simulator="other")))
    assert simulator.create("fast").run(*IMAGE, None, 1, True).simulator == "other"
    elf = Elf(copied_with(tmp_path, simulators={"renode": {}}))
    assert simulator.create("fast").run(elf, simulator.board_of(elf), None, 1, True).simulator == "one"
    installed(renode=Fake(), qemu=None)
    assert simulator.create("fast").run(*IMAGE, None, 1, True).simulator == "one"


def test_every_compares_what_is_installed(installed, tmp_path):
    other = changed(simulator="other")
    installed(renode=Fake(), qemu=Fake(other))
    result = simulator.create("every").run(*IMAGE, None, 1, True)
    assert (result.simulator, result.simulator_note) == (
        "one and other",
        "equal results; equal instruction counts",
    )
    elf = Elf(copied_with(tmp_path, simulators={"renode": {}}))
    assert simulator.create("every").run(elf, simulator.board_of(elf), None, 1, True).simulator == "one"
    installed(renode=Fake(changed(exit_code=1)), qemu=Fake(other))
    with pytest.raises(both.Disagreement, match="exit code"):
        simulator.create("every").run(*IMAGE, None, 1, True)
    installed(renode=Fake(), qemu=None)
    assert simulator.create("every").run(*IMAGE, None, 1, True).simulator == "one"
    installed(renode=Fake(refusal="too old"), qemu=Fake(other))
    with pytest.warns(auto.SimulatorChoice, match="too old"):
        assert simulator.create("every").run(*IMAGE, None, 1, True).simulator == "other"


# --- both -----------------------------------------------------------------------------------------


def run_both(one, other):
    return both.Both(Fake(one), Fake(other)).run(*IMAGE, None, 1, True)


def test_equal_results():
    """Times may differ, counts may not."""
    other = changed(simulator="other", counter="plugin", uart=RESULT.uart.replace("ticks=12", "ticks=13"))
    result = run_both(RESULT, other)
    assert result.simulator == "one and other"
    assert result.simulator_note == "equal results; equal instruction counts"
    assert result.regions == RESULT.regions


@pytest.mark.parametrize(
    "difference, message",
    [
        ({"status": "timeout"}, "status: 'exit' and 'timeout'"),
        ({"exit_code": 1}, "exit code: 0 and 1"),
        ({"uart": RESULT.uart.replace("set=0", "set=1")}, "UART: line 2: '##EXEC set=0 ticks=.' and '##EXEC set=1"),
        ({"uart": RESULT.uart + "more\n"}, "UART: 3 and 4 lines"),
        ({"regions": [Region(10, 31, [Region(12, 20)])]}, "instructions of regions: .*20.* and .*21"),
        ({"regions": [Region(10, 30, [Region(12, 21)])]}, "instructions of regions"),
        ({"regions": [Region(10, 30)]}, "instructions of regions"),
        ({"regions": []}, "instructions of regions"),
        ({"total_instructions": 101, "uart": TIMELESS}, "instructions of the run: 100 and 101"),
    ],
)
def test_differences_are_errors(difference, message):
    with pytest.raises(both.Disagreement, match=f"(?s)one and one disagree on cortex_m4.elf.*{message}"):
        run_both(
            changed(uart=difference["uart"]) if "total_instructions" in difference else RESULT, changed(**difference)
        )


def test_totals_of_firmware_that_reads_the_time_may_differ():
    assert run_both(RESULT, changed(total_instructions=106)).simulator_note == "equal results; equal instruction counts"


def test_the_number_of_a_fault_may_differ():
    texts = [f"##FAULT exception={number} pc=00000010\n##EXIT rc=111##\n" for number in (3, 6)]
    results = [changed(status="fault", exit_code=111, uart=text) for text in texts]
    assert run_both(*results).status == "fault"
    moved = dataclasses.replace(results[1], uart=texts[1].replace("pc=00000010", "pc=00000012"))
    with pytest.raises(both.Disagreement, match="UART: line 1"):
        run_both(results[0], moved)


def test_counts_that_are_not_there_are_told():
    note = run_both(RESULT, changed(regions=None, counter_note="no plugin")).simulator_note
    assert note == "equal results; instructions were not compared: no plugin"


def test_incomplete_output_is_not_compared():
    """One simulator lets the firmware report the fault and the other stops it, or both stop it somewhere."""
    fault = changed(status="fault", exit_code=None, uart="x")
    assert run_both(fault, changed(status="fault", exit_code=111)).status == "fault"
    stopped = changed(status="timeout", exit_code=None, uart="x")
    assert run_both(stopped, changed(status="timeout", exit_code=None, uart="xy")).status == "timeout"
    with pytest.raises(both.Disagreement, match="UART"):
        run_both(changed(status="fault", exit_code=111, uart="x"), changed(status="fault", exit_code=111, uart="y"))


def test_both_needs_both(installed):
    installed(renode=Fake(refusal="too old"), qemu=Fake())
    with pytest.raises(SimulatorError, match="too old"):
        simulator.create("both").require(Elf(M4))
    installed(renode=Fake(), qemu=None)
    with pytest.raises(SimulatorError, match="qemu is absent"):
        simulator.create("both")
    with pytest.raises(SimulatorError, match="one simulator"):
        both.Both(Fake(), Fake()).interactive_command(Elf(M4), None, None, None)
