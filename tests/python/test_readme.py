"""README tells the truth: its Python runs, its commands exist, its tables name what there is."""

import inspect
import re
import shlex
from pathlib import Path

import pytest

import earmark
import shared
from earmark.cli import main
from readme_examples import END, EXAMPLES, TOKENS, Example

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"__name__": "README"}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
        assert capsys.readouterr().out.strip()


def test_the_example_is_short() -> None:
    assert len(blocks("python")[0].splitlines()) <= 16


def rows(language: str) -> set[str]:
    """The first cells of a language's table of what is supported."""
    table = README[README.index(f"\n**{language}**") :].split("\n\n")[1]
    return {line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]}


@pytest.mark.parametrize(("language", "examples"), EXAMPLES.items())
def test_each_row_of_what_is_supported_is_so(
    language: str, examples: dict[str, list[Example]]
) -> None:
    assert examples.keys() == rows(language)
    for row, grammars in examples.items():
        for example in grammars:
            if example.texts is None:
                with pytest.raises(earmark.GrammarError):
                    shared.build(language.lower(), example.grammar)
                continue
            matcher = earmark.Matcher(shared.build(language.lower(), example.grammar), TOKENS)
            for text in example.texts:
                assert matcher.validate([*text, END]) == len(text) + 1, (row, text)
            for text in example.others:
                assert matcher.validate([*text, END]) <= len(text), (row, text)


def test_options_of_json_schema_and_their_defaults() -> None:
    table = README[README.index("**JSON Schema**") :].split("\n\n")[2]
    told = {}
    for line in table.splitlines()[2:]:
        names, default, _ = line.removeprefix("| ").split(" | ")
        told |= {name.strip("`"): default.strip("`") for name in names.split(", ")}
    parameters = inspect.signature(earmark.Grammar.from_json_schema).parameters.values()
    options = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert told == {each.name: repr(each.default).replace("'", '"') for each in options}


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
