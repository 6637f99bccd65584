"""The `earmark` command: what it prints and its exit status."""

import io
import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import earmark
from earmark.cli import main
from earmark.cli.default_vocabulary import default_vocabulary
from earmark.cli.progress import Progress

PAIRS = 'root ::= pair ("," pair)*\npair ::= [a-z]+ "=" [0-9]+\n'


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.gbnf"
    path.write_text(PAIRS)
    return str(path)


def test_check_accepts(pairs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", pairs, "a=1", "a=1,bc=23"]) == 0
    assert capsys.readouterr().out == "accepted: a=1\naccepted: a=1,bc=23\n"


def test_check_shows_where_a_text_leaves_the_grammar(
    pairs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", pairs, "a=1", "a=x", "a=1,"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "accepted: a=1"
    assert lines[1:4] == ["rejected: byte 2 (x) can't come here", "  a=x", "    ^"]
    assert lines[4].startswith("expected: ")
    assert lines[5:8] == ["unfinished: the text may not end after byte 4", "  a=1,", "      ^"]


def test_check_counts_lines_and_characters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", r"regex:é\n\tü[a-c0]", "é\n\tüx"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [r"  \tüx", "     ^", "expected: 0, a-c"]


def test_check_of_long_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text"
    text.write_bytes(b"ab" * 5000 + b"x" + b"ab" * 5000)
    assert main(["check", "regex:(ab)*", "--files", str(text)]) == 1
    out = capsys.readouterr().out
    assert "byte 10000 (x)" in out
    assert max(map(len, out.splitlines())) < 200


def test_check_takes_bytes_that_are_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "regex:é", os.fsdecode(b"\xc3\x28")]) == 1
    assert "byte 1 (()" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.lark", 'start: "a"+'), ("g.gbnf", 'root ::= "a"+'), ("g.regex", "a+\n"), ("g.re", "a+")],
)
def test_the_suffix_tells_the_language(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert main(["check", str(path), "aaa"]) == 0
    assert main(["check", str(path), "aab"]) == 1


def test_kind_start_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'x ::= "a"\ny ::= "b"')))
    assert main(["check", "-", "b", "--kind", "gbnf", "--start", "y"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-file.gbnf", "a"], "can't read 'no-such-file.gbnf'"),
        (["check", "grammar.txt", "a"], "give --kind"),
        (["check", "regex:a(", "a"], "line 1, column 2"),
        (["check", "regex:a", "--kind", "gbnf", "a"], "--kind says 'gbnf'"),
        (["check", "regex:a", "--start", "x", "a"], "a regex has no rules"),
        (["check", "regex:a", "--files", "no-such-file"], "can't read 'no-such-file'"),
        (["mask", "regex:a", "--prefix", "b"], "the prefix can't come"),
        (["mask", "regex:a", "--tokenizer", "no-such-file.json"], "no tokenizer file"),
        (["mask", "regex:a", "--tokenizer", __file__], "can't tell what kind of tokenizer"),
        (["mask", "gbnf:root ::= <|nope|>"], "<|nope|>"),
        (["sample", "lark:start: other"], "other"),
        (["check", 'json_schema:{"type": 1}', "1"], "/type"),
        (["check", "json_schema:{}", "--start", "x", "a"], "a JSON Schema has no rules"),
        (["check", "regex:a", "--option", "indent=2", "a"], "--option is for JSON Schema"),
        (["check", "json_schema:{}", "--option", "indent", "a"], "--option is NAME=VALUE"),
        (["check", "json_schema:{}", "--option", "indent=two", "a"], "--option: indent is"),
        (["check", "json_schema:{}", "--option", "whitespace=no", "a"], '"flexible" or'),
        (["check", "json_schema:{}", "--option", "nope=1", "a"], "the name nope"),
        (["report", "regex:a"], "--kind says 'json_schema'"),
        (["report", "json_schema:{"], "line 1"),
    ],
)
def test_what_can_not_run_says_why(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("earmark: ")
    assert message in output.err


def test_a_grammar_that_is_not_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.gbnf"
    path.write_bytes(b'root ::= "\xff"')
    assert main(["check", str(path), "a"]) == 2
    assert "not UTF-8: byte 10" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nope"], ["sample", "regex:a", "-n", "0"]])
def test_bad_options_exit_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert "usage: earmark" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["demo", "check", "mask", "sample"])
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([command, "--help"])
    assert exit_.value.code == 0
    assert "options:" in capsys.readouterr().out


def test_mask_counts_and_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "regex:[0-9]{1,2}", "--prefix", "4", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    vocabulary = default_vocabulary()
    assert lines[0] == f"11 of {len(vocabulary)} tokens are allowed"
    assert lines[1] == f"{ord('0'):>8}  '0'"
    assert lines[-1].endswith("'<|end|>'  (ends the text)")


@pytest.mark.parametrize("name", ["gpt2.json.gz", "llama3.json.gz"])
def test_demo_with_a_real_tokenizer(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tokenizers")
    path = Path(__file__).parents[3] / "shared" / "tokenizers" / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    assert main(["demo", "--tokenizer", str(path)]) == 0
    assert "as Python reads it: {'name': " in capsys.readouterr().out


def test_a_tokenizer_file_that_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tokenizers")
    for name in ("broken.json", "broken.json.gz", "broken.gguf"):
        (tmp_path / name).write_bytes(b"nothing of the kind")
        assert main(["demo", "--tokenizer", str(tmp_path / name)]) == 2
        assert name in capsys.readouterr().err


def test_mask_shortens_long_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "regex:.*", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith("more; --all lists them")


def test_sampled_texts_are_in_the_grammar(pairs: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sample", pairs, "-n", "20", "--seed", "3", "--max-tokens", "400"]
    assert main(command) == 0
    first = capsys.readouterr().out
    texts = first.splitlines()
    assert len(texts) == 20
    assert all(re.fullmatch(r"([a-z]+=\d+,)*[a-z]+=\d+", text) for text in texts)
    assert main(command) == 0
    assert capsys.readouterr().out == first


def test_sample_tells_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", "regex:(a ){50}", "--max-tokens", "5"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "1 of 1 texts were not finished" in output.err


def test_sample_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", r"regex:a\n", "--json"]) == 0
    assert capsys.readouterr().out == '"a\\n"\n'


def test_schemas_have_options(tmp_path: Path) -> None:
    path = tmp_path / "schema.json"
    path.write_text('{"properties": {"a": {"type": "integer"}}}')
    assert main(["check", str(path), '{"a": 1}', '{"a":1,"b":[]}']) == 0
    assert main(["check", str(path), '{"a": "x"}']) == 1
    options = ["--option", "whitespace=compact", "--option", "additional_properties=false"]
    assert main(["check", str(path), *options, '{"a":1}']) == 0
    assert main(["check", str(path), *options, '{"a": 1}']) == 1
    assert main(["check", str(path), *options, '{"b":1}']) == 1
    separators = ["--option", 'separators=[",", ": "]']
    assert main(["check", str(path), *separators, '{"a": 1,"b": 1}']) == 0


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    schema = '{"title": "t", "maxLength": 3, "pattern": "(a)\\\\1"}'
    assert main(["report", f"json_schema:{schema}"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["annotation", "/title"],
        ["enforced", "/maxLength"],
        ["refused", "/pattern"],
    ]
    assert len(lines[2].split()) > 3
    assert main(["report", f"json_schema:{schema}", "--option", "unsupported=ignore"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("ignored ")


def test_demo_runs_without_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "step" in out
    assert "as Python reads it: {'name': " in out
    assert "µs" in out


@pytest.mark.parametrize("seed", range(10))
def test_demo_is_right_for_any_seed(seed: int) -> None:
    assert main(["demo", "--seed", str(seed)]) == 0


def test_the_script_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="earmark")
    assert script.load() is main


def test_python_m_earmark() -> None:
    command = [sys.executable, "-m", "earmark", "--version"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout == f"earmark {earmark.__version__}\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"'{sys.executable}' -m earmark sample 'regex:[a-z]{{9}}' -n 20000 | head -n 1"
    result = subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True)
    assert result.stderr == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(Terminal(), True), (io.StringIO(), False)])
def test_progress_is_for_terminals(
    stream: Any, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("earmark.cli.progress.PATIENCE", 0)
    with Progress(4, "texts") as progress:
        progress.advance()
    assert ("1 of 4 texts" in stream.getvalue()) == shown
    assert stream.getvalue().endswith("\r\x1b[K") == shown


def test_the_default_vocabulary_encodes_what_it_decodes() -> None:
    vocabulary = default_vocabulary()
    assert len(set(map(vocabulary.token_bytes, range(len(vocabulary))))) == len(vocabulary)
    text = '{"name": "Ada Lovelace", "born": [1815]}\n\tünïcode'.encode()
    assert vocabulary.encode is not None
    ids = vocabulary.encode(text)
    assert ids is not None
    assert b"".join(map(vocabulary.token_bytes, ids)) == text
    assert len(ids) < len(text) * 0.6
