import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report import difference
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks

SIZES = st.integers(0, 10**6)
PARTS = st.dictionaries(
    st.sampled_from(["runtime/backend", "app", "a|b"]), st.dictionaries(st.sampled_from("xyz"), SIZES)
)


def _image(parts: dict[str, dict[str, int]]) -> str:
    found = {
        name: {"total": sum(objects.values()), "objects": {f"{key}.o": size for key, size in objects.items()}}
        for name, objects in parts.items()
    }
    total = sum(part["total"] for part in found.values())
    return json.dumps({"flash": {"total": total, "parts": found}, "ram": {"total": 0, "sections": {}, "parts": {}}})


def _report(*providers: str) -> str:
    return build_report(
        "net", encode(networks.ds_cnn(), get_target("cortex-m4"), PayloadOptions.of(providers=providers))
    ).to_json()


@settings(max_examples=100, deadline=None)
@given(PARTS, PARTS)
def test_the_changes_add_up_to_that_of_the_total(before, after):
    found = difference.compare(_image(before), _image(after))
    assert sum(change.difference for change in found.changes) == found.totals[0].difference
    sizes = [abs(change.difference) for change in found.changes]
    assert sizes == sorted(sizes, reverse=True) and 0 not in sizes
    assert json.loads(found.to_json())["totals"][0]["difference"] == found.totals[0].difference
    for text in (difference.render(found), difference.render_markdown(found)):
        for change in found.changes:
            assert f"{change.difference:+,}" in text


def test_calls_are_compared_by_what_they_compute():
    found = difference.compare(_report("tuned", "cmsis-nn"), _report("cmsis-nn"))
    constants = [change for change in found.changes if change.group == "constants by call, bytes"]
    assert constants and all(change.before is not None and change.after is not None for change in constants)
    payload = {change.name: change.difference for change in found.totals}["payload, bytes"]
    assert payload == sum(c.difference for c in found.changes if c.group == "payload by part, bytes") < 0


def test_what_only_one_report_has_is_shown():
    text = difference.render(difference.compare(_image({"app": {"x": 5}}), _image({"app": {"y": 7}})))
    assert [line.split() for line in text.splitlines() if line.startswith("  app")] == [
        ["app/y.o", "-", "7", "+7"],
        ["app/x.o", "5", "-", "-5", "(-100.0", "%)"],
    ]


@pytest.mark.parametrize("text", ["nothing", "[]", "{}", '{"x": 1}'])
def test_other_documents_are_refused(text):
    with pytest.raises(UserError, match=r"a\.json (is no JSON|is none of these|contains no object)"):
        difference.compare(text, _image({}), ("a.json", "b.json"))


def test_a_damaged_report_is_refused():
    with pytest.raises(
        UserError, match="the first, the size report of an image: flash.total is missing; write it again"
    ):
        difference.compare('{"flash": {}, "ram": 1}', _image({}))


def test_two_kinds_are_refused():
    with pytest.raises(UserError, match="is the size report of an image, and .* is the report of a compiled model"):
        difference.compare(_image({}), _report("cmsis-nn"))


def test_reports_of_different_models_say_of_which():
    """The same network for two cores has the same calls, so that the figures alone do not tell which is which."""
    before, after = (
        build_report("net", encode(networks.ds_cnn(), get_target(target))).to_json()
        for target in ("cortex-m4", "cortex-m55")
    )
    found = difference.compare(before, after)
    for text in (difference.render(found), difference.render_markdown(found)):
        assert text.startswith("before: net for cortex-m4; after: net for cortex-m55\n\n")
    assert json.loads(found.to_json())["subjects"] == ["net for cortex-m4", "net for cortex-m55"]
    assert "before:" not in difference.render(difference.compare(before, before))
