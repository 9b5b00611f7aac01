"""What the mutants are, and that the list of equivalent ones fits the sources. Running them takes too long for this."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants import mutants


def texts(source: str) -> list[str]:
    return [mutant.of(source) for mutant in mutants.mutants("a.cc", source)]


def test_every_relation_connective_sum_and_number_changes():
    assert texts("a < b && c") == ["a <= b && c", "a < b || c"]
    assert texts("a == 0") == ["a != 0", "a == 1"]
    assert texts("a - 2u") == ["a + 2u", "a - 3u", "a - 1u"]


def test_what_is_no_check_stays():
    for source in (
        "p->q;\n",
        "a << b;\n",
        "// a < 1\n",
        "#if A < 1\n",
        'log("a < 1");\n',
        "static_cast<int>(a);\n",
        "++a;\n",
        "int32_t a;\n",
        "static_assert(a < 1);\n",
    ):
        assert texts(source) == []


def test_keys_are_unique_and_do_not_name_lines():
    source = "a < b;\na < b;\n"
    keys = [mutant.key for mutant in mutants.mutants("a.cc", source)]
    assert keys == ["a.cc: a [< -> <=] b;", "a.cc: a [< -> <=] b; #2"]


def test_equivalents_name_mutants_with_reasons():
    sources = {file: (mutants.FOLDER / file).read_text() for file in mutants.MUTATED}
    keys = {mutant.key for file, source in sources.items() for mutant in mutants.mutants(file, source)}
    listed = mutants.equivalents(Path(mutants.EQUIVALENTS).read_text())
    assert set(listed) <= keys
    assert len(keys) > 400


def test_the_readme_has_the_result_of_these_sources():
    sources = {file: (mutants.FOLDER / file).read_text() for file in mutants.MUTATED}
    listed = mutants.equivalents(Path(mutants.EQUIVALENTS).read_text())
    assert mutants.table(sources, listed) in Path("tests/mutants/README.md").read_text(), (
        "the checks have changed: run //tests/mutants, which prints the table"
    )


def test_a_key_needs_one_reason():
    assert mutants.equivalents("a\nb\n    same\n") == {"a": "same", "b": "same"}
    for text in ("a\n", "a\n    same\na\n    same\n"):
        with pytest.raises(ValueError, match="equivalents.txt"):
            mutants.equivalents(text)
