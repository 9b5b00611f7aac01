"""Converts counts at hooks, which include markers, to those of QEMU's plugin, which do not."""

from hypothesis import given
from hypothesis import strategies as st

from sim.renode import hooks

# The code that ran: "i" is an instruction, "b" and "e" are the markers; the core stops at one last instruction.
PROGRAMS = st.text(alphabet="iiibe", max_size=60)


@given(PROGRAMS)
def test_plugin_lines(program):
    at_hooks, of_plugin, instructions = [], [], 0
    for executed, step in enumerate(program):
        event = {"b": "begin", "e": "end"}.get(step)
        if event:
            at_hooks.append(f"{event} {executed}")
            of_plugin.append(f"{event} {instructions}")
        else:
            instructions += 1
    at_hooks.append(f"total {len(program)}")
    of_plugin.append(f"total {instructions + 1}")
    assert hooks.plugin_lines("\n".join(at_hooks)).splitlines() == of_plugin


def test_what_comes_after_the_end_is_not_counted():
    """The core sleeps, and its timer wakes it."""
    assert hooks.plugin_lines("begin 5\nend 9\ntotal 12\ntotal 99\nbegin 120\n") == "begin 5\nend 8\ntotal 11"


def test_cut_line_of_a_killed_run():
    assert hooks.plugin_lines("begin 5\nend") == "begin 5"
