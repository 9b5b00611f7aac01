"""Lines that say how long a step has taken."""

import io
import sys

from cmsis_nn_delegate.heartbeat import Heartbeat


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


def test_files_do_not_depend_on_the_machines_speed(monkeypatch):
    assert beats(monkeypatch, io.StringIO(), [100.0, 200.0]) == []
