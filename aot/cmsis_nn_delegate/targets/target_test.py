"""Targets: cores with and without their optional features."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.format.schema import Isa
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.cores import ALSO_RUNS_ON, CORES
from cmsis_nn_delegate.targets.target import TARGETS, Target, get_target

# What GCC switches off with a feature.
WITH = {"dsp": {"dsp", "mve", "mve.fp"}, "mve": {"mve", "mve.fp"}, "mve.fp": {"mve.fp"}, "fp": {"fp", "mve.fp"}}
# The cores that have options in GCC's manual, with the instruction set of the whole core.
OPTIONAL = {
    "cortex-m4": ("dsp", ["fp"]),
    "cortex-m7": ("dsp", ["fp"]),
    "cortex-m33": ("dsp", ["dsp", "fp"]),
    "cortex-m35p": ("dsp", ["dsp", "fp"]),
    "cortex-m52": ("mve", list(WITH)),
    "cortex-m55": ("mve", list(WITH)),
    "cortex-m85": ("mve", list(WITH)),
}


@given(st.sampled_from(sorted(OPTIONAL)), st.data())
def test_features_are_switched_off_in_any_order(core, data):
    isa, features = OPTIONAL[core]
    chosen = data.draw(st.lists(st.sampled_from(features), max_size=5))
    lost = set().union(*(WITH[feature] for feature in chosen))
    target = get_target("".join([core, *(f"+no{feature}" for feature in chosen)]))
    if isa == "mve" and "mve" in lost:
        isa = "dsp"
    if isa == "dsp" and "dsp" in lost:
        isa = "scalar"
    assert target.isa is Isa[isa.upper()]
    # One target has one name, which names itself.
    assert set(CORES[target.name][2]) == lost & set(features)
    assert get_target(target.name) == target


def test_cores():
    assert [name for name in CORES if "+" not in name] == list(TARGETS)
    assert all(not CORES[name][2] for name in TARGETS)
    assert {name.split("+")[0] for name in CORES if "+" in name} >= set(OPTIONAL)
    for core in ("cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m23"):
        assert get_target(core) == TARGETS[core] == Target(core, Isa.SCALAR)


def test_images_run_where_there_is_more():
    for name, others in ALSO_RUNS_ON.items():
        for other in others:
            assert set(CORES[other][2]) <= set(CORES[name][2])
            assert get_target(other).isa >= get_target(name).isa
    assert "cortex-m33" in ALSO_RUNS_ON["cortex-m33+nodsp"]
    assert "cortex-m33+nodsp" not in ALSO_RUNS_ON.get("cortex-m33", ())


@pytest.mark.parametrize(
    "name, message",
    [
        ("m33+nodsp", "unknown target 'm33+nodsp'; did you mean cortex-m33+nodsp?"),
        ("Cortex-M55+noMVE", "did you mean cortex-m55+nomve?"),
        ("cortex-m3+nodsp", "cortex-m3 has no features that can be switched off; leave out +nodsp"),
        (
            "cortex-m4+nodsp",
            "cortex-m4 has no feature 'dsp' that can be switched off; only cortex-m4+nofp is possible",
        ),
        (
            "cortex-m33+nomve",
            "cortex-m33 has no feature 'mve' that can be switched off; possible are cortex-m33+nodsp and "
            "cortex-m33+nofp, and several together",
        ),
        ("cortex-m33+dsp", "+dsp switches nothing off, and cortex-m33 has all of its features"),
        ("cortex-m33+", "+ switches nothing off"),
        ("cortex-m99+nodsp", "unknown target 'cortex-m99+nodsp'; choose one of cortex-m0plus, cortex-m0, "),
    ],
)
def test_what_is_no_target(name, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        get_target(name)


@pytest.mark.parametrize(
    "name, isa, message",
    [
        ("cortex-m33", Isa.SCALAR, "of cortex-m33 is dsp, not scalar: name cortex-m33+nodsp"),
        ("cortex-m55", Isa.DSP, "of cortex-m55 is mve, not dsp: name cortex-m55+nomve"),
        ("cortex-m4", Isa.SCALAR, "of cortex-m4 is dsp, not scalar: no target with a cortex-m4 has scalar"),
        ("cortex-m33+nofp+nodsp", Isa.SCALAR, "is no target that `cmsisnn targets` lists: use get_target"),
    ],
)
def test_targets_that_are_made_have_the_instruction_set_of_their_name(name, isa, message):
    """Otherwise the files of a model name a core that refuses its payload."""
    with pytest.raises(UserError, match=re.escape(message)):
        Target(name, isa)


def test_what_is_no_name():
    with pytest.raises(UserError, match="name"):
        get_target(33)
