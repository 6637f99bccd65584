"""README tells the truth: its Python runs, its commands exist, its tables name what there is."""

import re
import shlex
from pathlib import Path

import pytest

import earmark
from earmark.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "README"})
    assert capsys.readouterr().out.strip()


def test_the_example_is_short() -> None:
    assert len(blocks("python")[0].splitlines()) <= 16


def test_set_up_takes_one_command_each() -> None:
    run, test = blocks("sh")[:2]
    assert run == "pip install . && earmark demo\n"
    assert test == "pip install '.[test]' && pytest\n"


@pytest.mark.parametrize("command", [c for c in blocks("sh") if c.startswith("earmark ")])
def test_earmark_commands_run(command: str) -> None:
    assert main(shlex.split(command)[1:]) in (0, 1)


def test_the_table_names_what_there_is() -> None:
    table = README[README.index("## What there is") : README.index("## What is supported")]
    for names, thing in (
        (r"`\.(\w+)", (earmark.Matcher, earmark.Vocabulary)),
        (r"`Vocabulary\.(\w+)", (earmark.Vocabulary,)),
        (r"`Grammar\.(\w+)", (earmark.Grammar,)),
    ):
        for name in re.findall(names, table):
            assert any(hasattr(owner, name) for owner in thing), name
    for owner in (earmark.Matcher, earmark.Vocabulary, earmark.Grammar):
        for name in vars(owner):
            public = not name.startswith("_") and callable(getattr(owner, name))
            assert not public or name in table or name in ("accepted", "token_bytes"), name


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
