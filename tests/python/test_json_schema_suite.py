"""The official suite, by `tests/json_schema/suite.py`, against the committed results."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import exact
import page
import suite
from oracle import Oracle, UndecidedError

pytestmark = pytest.mark.skipif(not suite.SUITE.exists(), reason=f"no {suite.SUITE}")


@cache
def results() -> dict[str, Any]:
    return suite.run(suite.files())


def test_nothing_is_wrong() -> None:
    wrong = {
        (name, kind): found[kind]
        for name, found in results().items()
        for kind in ("wrong_accept", "wrong_reject", "failed")
        if kind in found
    }
    assert not wrong


@pytest.mark.parametrize(("formats", "least"), [(None, 0.96), (True, 0.95)])
def test_most_is_enforced(formats: bool | None, least: float) -> None:
    sums = suite.total(results(), formats=formats)
    assert sums["tests"] > 670
    assert sums["left_out"] < 20
    assert sums["right"] >= least * sums["tests"]


def test_the_results_file_is_current() -> None:
    written = json.loads(suite.RESULTS.read_text("utf-8"))
    assert suite.differences(written, results()) == []
    assert suite.text_of(results()) == suite.RESULTS.read_text("utf-8")


def test_the_page_says_what_the_results_say() -> None:
    text = page.PAGE.read_text("utf-8")
    assert page.filled(text) == text


def test_the_oracle_passes_the_suite() -> None:
    """What judges random schemas is itself right wherever it gives a verdict."""
    wrong, undecided = [], 0
    resources = {uri: exact.load(text) for uri, text in suite.remotes().items()}
    for name in suite.files():
        if "/" in name:
            continue
        path = suite.SUITE / "draft2020-12" / f"{name}.json"
        for group in exact.load(path.read_text("utf-8")):
            try:
                oracle = Oracle(group["schema"], resources=resources)
                for test in group["tests"]:
                    if oracle.is_valid(test["data"]) != test["valid"]:
                        wrong.append(f"{name}: {group['description']}: {test['description']}")
            except UndecidedError:
                undecided += 1
    # It does not know that a metaschema may leave vocabularies out, nor `\p{…}`.
    assert [title for title in wrong if not title.startswith("vocabulary: ")] == []
    assert undecided < 10
