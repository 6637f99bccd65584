"""What the commands have in common: grammars and tokenizers named on the command line."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from earmark import Grammar, GrammarError, Vocabulary
from earmark.cli.default_vocabulary import default_vocabulary

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import TypeAlias

    from earmark import SchemaReport

    Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

Made = TypeVar("Made")

KINDS = ("regex", "gbnf", "lark", "json_schema")
SUFFIXES = {
    ".regex": "regex",
    ".re": "regex",
    ".gbnf": "gbnf",
    ".lark": "lark",
    ".json": "json_schema",
}

#: What has no rules to start with, and what it is called.
NO_RULES = {"regex": "regex", "json_schema": "JSON Schema"}


class InputError(Exception):
    """A file or name on the command line that can't be used; the text says why."""


def add_grammar(parser: argparse.ArgumentParser) -> None:
    """Adds GRAMMAR and the options that say how it is read."""
    parser.add_argument(
        "grammar",
        metavar="GRAMMAR",
        help="a file (.lark, .gbnf, .regex, .re, or .json for a JSON Schema), '-' for standard "
        "input, or the grammar itself after its kind, such as 'regex:[0-9]+' or "
        '\'json_schema:{"type": "integer"}\'',
    )
    parser.add_argument(
        "--kind", choices=KINDS, help="the file's language, if its name does not say"
    )
    parser.add_argument("--start", metavar="RULE", help="the rule to start with (Lark, GBNF)")
    add_schema_options(parser)


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """Adds the option that gives those of `Grammar.from_json_schema`."""
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an option of Grammar.from_json_schema, such as whitespace=compact, indent=2 or "
        "formats=false; may be repeated",
    )


def add_tokenizer(parser: argparse.ArgumentParser, default: str) -> None:
    """Adds --tokenizer; `default` says what is used without it."""
    parser.add_argument(
        "--tokenizer",
        metavar="TOKENIZER",
        help="a tokenizer.json, tokenizer.json.gz or .gguf file, or 'tiktoken:NAME'; "
        f"default: {default}",
    )


def read_grammar(options: argparse.Namespace) -> Grammar:
    """The grammar that the options name."""
    kind, text = _kind_and_text(options.grammar, options.kind)
    if options.start is not None and kind in NO_RULES:
        raise InputError(f"--start is for Lark and GBNF grammars; a {NO_RULES[kind]} has no rules")
    if options.option and kind != "json_schema":
        raise InputError(f"--option is for JSON Schema; the grammar is {kind}")
    if kind == "regex":
        return Grammar.from_regex(text)
    if kind == "json_schema":
        return _with_options(Grammar.from_json_schema, text, options.option)
    if kind == "gbnf":
        return Grammar.from_gbnf(text, options.start or "root")
    return Grammar.from_lark(text, options.start or "start")


def read_report(options: argparse.Namespace) -> SchemaReport:
    """The report of the schema that the options name."""
    _, text = _kind_and_text(options.grammar, "json_schema")
    return _with_options(Grammar.schema_report, text, options.option)


def _with_options(make: Callable[..., Made], text: str, given: list[str]) -> Made:
    try:
        return make(text, **dict(map(_option, given)))
    except GrammarError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"--option: {error}") from None


def _option(text: str) -> tuple[str, Any]:
    """Name and value: JSON where it is that, a str otherwise."""
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"--option is NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def read_vocabulary(tokenizer: str | None) -> Vocabulary:
    """The vocabulary that --tokenizer names, the built-in one for None."""
    if tokenizer is None:
        return default_vocabulary()
    if tokenizer.startswith("tiktoken:"):
        return _from_tiktoken(tokenizer.removeprefix("tiktoken:"))
    path = Path(tokenizer)
    if not path.is_file():
        raise InputError(f"no tokenizer file {tokenizer!r}; use a path or 'tiktoken:NAME'")
    try:
        if path.suffix == ".gguf":
            return Vocabulary.from_gguf(path)
        if path.suffix == ".json":
            return Vocabulary.from_huggingface(path)
        if path.name.endswith(".json.gz"):
            return Vocabulary.from_huggingface(_decompressed(tokenizer))
    except ImportError as error:
        raise InputError(f"{tokenizer!r} needs a package that is not installed: {error}") from None
    raise InputError(
        f"can't tell what kind of tokenizer {tokenizer!r} is; "
        "its name should end in .json, .json.gz or .gguf"
    )


def read_bytes(path: str) -> bytes:
    """A file's content."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"can't read {path!r}: {error.strerror}") from None


def _decompressed(path: str) -> str:
    try:
        return gzip.decompress(read_bytes(path)).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"can't decompress {path!r}: {error}") from None


def natural(text: str) -> int:
    """An option's value that counts something: an integer from 1."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _kind_and_text(grammar: str, kind: str | None) -> tuple[str, str]:
    prefix, colon, text = grammar.partition(":")
    if colon and prefix in KINDS:
        if kind not in (None, prefix):
            raise InputError(f"the grammar says {prefix!r}, but --kind says {kind!r}")
        return prefix, text
    kind = kind or SUFFIXES.get(Path(grammar).suffix.lower())
    if kind is None:
        raise InputError(
            f"can't tell the language of {grammar!r}: "
            f"give --kind, or one of the suffixes {', '.join(SUFFIXES)}"
        )
    content = sys.stdin.buffer.read() if grammar == "-" else read_bytes(grammar)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{grammar!r} is not UTF-8: byte {error.start}: {error.reason}") from None
    # The line end that editors add is no part of a pattern.
    return kind, text.removesuffix("\n").removesuffix("\r") if kind == "regex" else text


def _from_tiktoken(name: str) -> Vocabulary:
    try:
        import tiktoken
    except ImportError:
        raise InputError("tiktoken is not installed: pip install 'earmark[tiktoken]'") from None
    try:
        encoding = tiktoken.get_encoding(name)
    except ValueError as error:
        raise InputError(str(error)) from None
    return Vocabulary.from_tiktoken(encoding)
