"""Documents that do not fit their declaration: each is an error that names the file, the field and what it must be."""

import json
from dataclasses import dataclass, field
from typing import Any, Optional

import pytest

from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.support.structured import AnyBase, parse_json, read_json, structured


@dataclass(frozen=True)
class Part:
    name: str
    nbytes: int

    def __post_init__(self) -> None:
        if self.nbytes < 0:
            raise ValueError("a part has a negative size")


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    share: float
    pair: tuple[int, int]
    by_name: dict[str, int]
    exact: bool
    scale: Optional[float]
    address: AnyBase = AnyBase(0)
    anything: Any = None
    nested: dict[str, Part] = field(default_factory=dict)


GOOD = dict(parts=[dict(name="a", nbytes=1)], share=1, pair=[1, 2], by_name={"x": 3}, exact=True, scale=None)


def test_takes_what_fits_and_leaves_other_fields_alone():
    found = structured({**GOOD, "address": "0x20", "later": 1}, Whole, "x.json")
    assert found == Whole((Part("a", 1),), 1, (1, 2), {"x": 3}, True, None, AnyBase(32))


@pytest.mark.parametrize(
    "damage, message",
    [
        (dict(parts=None), "x.json: parts is None; it must be a list; write it again"),
        (dict(parts="ab"), "parts is 'ab'; it must be a list"),
        (dict(parts={}), "parts is {}; it must be a list"),
        (dict(parts=[3]), "parts[0] is 3; it must be an object"),
        (dict(parts=[{"name": "a"}]), "parts[0].nbytes is missing"),
        (dict(parts=[{"name": 5, "nbytes": 1}]), "parts[0].name is 5; it must be a text"),
        (dict(parts=[{"name": "a", "nbytes": True}]), "parts[0].nbytes is True; it must be a whole number"),
        (dict(parts=[{"name": "a", "nbytes": -1}]), "parts[0] is impossible: a part has a negative size"),
        (dict(share=float("nan")), "share is nan; it must be a number"),
        (dict(share="1"), "share is '1'; it must be a number"),
        (dict(pair=[1, 2, 3]), "pair is [1, 2, 3]; it must be a list of 2"),
        (dict(pair=[1, 1.5]), "pair[1] is 1.5; it must be a whole number"),
        (dict(pair=[1, 10**400]), "it must be a whole number"),
        (dict(by_name=[]), "by_name is []; it must be an object"),
        (dict(by_name={"x": "3"}), "by_name['x'] is '3'; it must be a whole number"),
        (dict(exact=1), "exact is 1; it must be true or false"),
        (dict(scale="1"), "scale is '1'; it must be a number"),
        (dict(address="0x" + "f" * 5000), "it must be a whole number, or one as text"),
        (dict(address="2O"), "address is '2O'; it must be a whole number"),
        (dict(nested={"y": {"name": "a"}}), "nested['y'].nbytes is missing"),
    ],
)
def test_names_the_field(damage, message):
    with pytest.raises(UserError) as found:
        structured({**GOOD, **damage}, Whole, "x.json", "write it again")
    assert str(found.value).startswith("x.json: ") and message in str(found.value)
    assert str(found.value).endswith("; write it again")


def test_a_complete_document_has_all_fields():
    everything = {**GOOD, "address": 1, "anything": 1, "nested": {}}
    assert structured(everything, Whole, "x.json", complete=True).anything == 1
    del everything["anything"]
    with pytest.raises(UserError, match="x.json: has no anything"):
        structured(everything, Whole, "x.json", complete=True)


def test_what_is_no_object_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"^x.json: is 3; it must be an object$"):
        structured(3, Whole, "x.json")
    for text in ("", "{", "[]", "[" * 100_000, '{"a": ' + "9" * 5000 + "}", b"\xff"):
        with pytest.raises(UserError, match="x.json (is no JSON|contains no object)"):
            parse_json(text, "x.json")
    with pytest.raises(UserError, match="does not exist; write it"):
        read_json(tmp_path / "x.json", "write it")
    (tmp_path / "x.json").write_text(json.dumps(GOOD))
    assert read_json(tmp_path / "x.json") == GOOD
