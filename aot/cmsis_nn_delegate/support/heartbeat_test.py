"""Lines that say how long a step has taken, and where it is."""

import io
import sys

from cmsis_nn_delegate.support.heartbeat import Heartbeat, numbered


class Terminal(io.StringIO):
    def isatty(self):
        return True


def beats(monkeypatch, stream, times):
    """Returns what is printed at the given seconds after the step "calibrating" began."""
    now = [0.0]
    monkeypatch.setattr(sys, "__stderr__", stream)
    heart = Heartbeat(lambda: now[0])
    heart.beat()  # nothing has begun
    heart.said("calibrating")
    for now[0] in times:
        heart.beat()
    with heart.running():
        pass
    heart.beat()  # it has ended
    return stream.getvalue().splitlines()


def test_a_long_step_is_reported_ever_more_rarely(monkeypatch):
    times = [0.5 * i for i in range(100)]
    assert beats(monkeypatch, Terminal(), times) == [f"  still calibrating ({s} s)" for s in (2, 4, 8, 16, 32)]


def test_a_file_gets_a_line_for_what_takes_very_long(monkeypatch):
    times = [0.5 * i for i in range(100)]
    assert beats(monkeypatch, io.StringIO(), times) == [f"  still calibrating ({s} s)" for s in (10, 20, 40)]


def test_a_line_names_the_item_that_is_worked_on(monkeypatch):
    now, stream = [0.0], Terminal()
    monkeypatch.setattr(sys, "__stderr__", stream)
    heart = Heartbeat(lambda: now[0])
    heart.said("calibrating")
    for now[0] in numbered([1.0, 2.0, 4.0], "sample"):
        heart.beat()
    for now[0] in numbered(iter([8.0]), "layer"):
        heart.beat()
    now[0] = 16.0
    heart.beat()
    places = ["sample 2 of 3, 2 s", "sample 3 of 3, 4 s", "layer 1, 8 s", "16 s"]
    assert stream.getvalue().splitlines() == [f"  still calibrating ({place})" for place in places]
