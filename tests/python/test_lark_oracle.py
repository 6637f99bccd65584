"""The lark package's Earley parser (`dynamic_complete`) as the oracle of meaning.

Random grammars, and the sample grammars: a text is accepted here exactly if lark parses it, every
beginning of a parsed text is alive, and whatever is alive can be completed to a text that lark
parses.

Lark asks Python's `re` for a match and takes the first it finds, not the longest, so random
terminals hold at most one repetition, at which both are the same. It ignores greedily, so ignored
text shares no character with the terminals.
"""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import earmark
import pytest
import shared

lark = pytest.importorskip("lark")


class RandomGrammar:
    """A small Lark grammar over a few characters."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.letters = self.random.choice(["ab", "abc", "aé", "ab日"])
        self.rules = [f"r{index}" for index in range(self.random.randint(1, 4))]
        self.terminals = [f"T{index}" for index in range(self.random.randint(1, 3))]
        lines = [f"start: {self.alternatives(2)}"]
        lines += [f"{rule}: {self.rule_body(rule)}" for rule in self.rules]
        lines += [f"{terminal}: {self.terminal_body()}" for terminal in self.terminals]
        self.ignores = self.random.random() < 0.3
        if self.ignores:
            lines.append(self.random.choice(['%ignore " "', "%ignore / +/", '%ignore " "+']))
        self.text = "\n".join(lines)

    def rule_body(self, rule: str) -> str:
        leaf = self.leaf
        return self.random.choice(
            [
                lambda: self.alternatives(3),
                lambda: f"{rule} {leaf()} | {leaf()}",
                lambda: f"{leaf()} {rule} | {leaf()}",
                lambda: f"{rule} {rule} | {leaf()}",
                lambda: f"{leaf()} {rule} {leaf()} |",
                lambda: f"{self.random.choice(self.rules)} | {leaf()}",
                lambda: f"{leaf()}? {rule} {leaf()} | {leaf()}",
            ]
        )()

    def alternatives(self, most: int) -> str:
        count = self.random.randint(1, most)
        return " | ".join(self.sequence() for _ in range(count))

    def sequence(self) -> str:
        return " ".join(self.item() for _ in range(self.random.choice([0, 1, 1, 2, 2, 3])))

    def item(self) -> str:
        kind = self.random.randrange(10)
        if kind < 4:
            return self.leaf()
        if kind < 7:
            return self.random.choice(self.rules)
        if kind == 7:
            return f"[{self.leaf()}]"
        if kind == 8:
            return f"({self.leaf()} | {self.random.choice(self.rules)})"
        return self.leaf() + self.random.choice(["?", "*", "+", "~2", "~0..2", "~1..3"])

    def leaf(self) -> str:
        if self.random.random() < 0.6:
            return self.random.choice(self.terminals)
        return self.literal()

    def literal(self) -> str:
        return '"' + "".join(self.random.choices(self.letters, k=self.random.randint(1, 2))) + '"'

    def terminal_body(self) -> str:
        letter = self.random.choice(self.letters)
        group = "[" + "".join(self.random.sample(self.letters, 2)) + "]"
        return self.random.choice(
            [
                self.literal(),
                f"/{group}/",
                f"/{group}+/",
                f"/{group}{{1,3}}/",
                f"/{letter}{group}*/",
                f"/{group}*{letter}/",
                f"/[^{letter}]/",
                f'"{letter}"+',
                f'"{letter}" "{self.letters[0]}"?',
                f'"{letter * 2}" | "{letter}"',
            ]
        )

    def texts(self) -> list[str]:
        letters = self.letters + (" " if self.ignores else "")
        short = ["".join(t) for n in range(5) for t in itertools.product(letters, repeat=n)]
        if len(short) > 120:
            short = short[:40] + self.random.sample(short[40:], 80)
        long = ["".join(self.random.choices(letters, k=self.random.randint(5, 9))) for _ in range(20)]
        return short + long


def parses(parser: Any, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.exceptions.UnexpectedInput:
        return False
    except RuntimeError as error:
        # Lark found several parses of a cyclic start and does not know which to give.
        assert "multiple start symbol" in str(error)
    return True


def make_parser(text: str) -> Any:
    return lark.Lark(text, parser="earley", lexer="dynamic_complete")


@pytest.mark.parametrize("block", range(10))
def test_random_grammars_mean_what_lark_says(block: int) -> None:
    compared = completed = tried = 0
    for seed in range(block * 30, block * 30 + 30):
        case = RandomGrammar(seed)
        try:
            parser = make_parser(case.text)
        except lark.exceptions.LarkError:
            # Lark refuses some, such as those with the same alternative twice.
            continue
        try:
            grammar = earmark.Grammar.from_lark(case.text)
        except earmark.GrammarError as error:
            assert error.kind == "empty", case.text
            grammar = None
        for text in case.texts():
            expected = parses(parser, text)
            if grammar is None:
                assert not expected, (case.text, text)
                continue
            assert shared.is_text(grammar, text.encode()) == expected, (case.text, text)
            if expected:
                assert shared.is_alive(grammar, text.encode())
            compared += 1
        if grammar is not None:
            tried += 3
            completed += check_completions(parser, grammar, case.letters.encode(), seed, 7)
    assert compared > 1000
    assert completed > 0.9 * tried


def complete(
    grammar: earmark.Grammar, prefix: bytes, letters: bytes, random: Random
) -> bytes | None:
    """A text that begins with the prefix and goes on with some of the letters."""
    start = earmark.Matcher(grammar, shared.byte_vocabulary())
    start.accept_bytes(prefix)
    level = [(prefix, start)]
    for _ in range(60):
        following = []
        for text, matcher in level:
            if matcher.is_accepting:
                return text
            ids = [int(byte) for byte in matcher.allowed_tokens() if byte < 256]
            # The rest of a character that was begun is no letter.
            usual = [byte for byte in ids if byte in letters] or ids[:3]
            following += [(text, matcher, byte) for byte in usual]
        random.shuffle(following)
        level = []
        for text, matcher, byte in following[:60]:
            fork = matcher.fork()
            fork.accept(byte)
            level.append((text + bytes([byte]), fork))
    return None


def check_completions(
    parser: Any, grammar: earmark.Grammar, letters: bytes, seed: int, longest: int
) -> int:
    """What is alive can be completed, and lark parses what was completed.

    Gives how many of three beginnings the search could complete; it may fail on long ways out.
    """
    random = Random(seed)
    completed = 0
    for _ in range(3):
        matcher = earmark.Matcher(grammar, shared.byte_vocabulary())
        prefix = b""
        for _ in range(random.randint(0, longest)):
            following = [int(byte) for byte in matcher.allowed_tokens() if byte < 128]
            if not following:
                break
            byte = random.choice(following)
            matcher.accept(byte)
            prefix += bytes([byte])
        whole = complete(grammar, prefix, letters, random)
        if whole is not None:
            completed += 1
            assert parses(parser, whole.decode()), (prefix, whole)
    return completed


LARK_FILES = sorted(path.name for path in shared.GRAMMARS.glob("*.lark"))


@pytest.mark.parametrize("file", LARK_FILES)
def test_sample_grammars_mean_what_lark_says(file: str) -> None:
    text = (shared.GRAMMARS / file).read_text(encoding="utf-8")
    parser = make_parser(text)
    grammar = shared.load(file)
    letters = {"json.lark": b'"0:]}', "arithmetic.lark": b"1)", "words.lark": b"end"}[file]
    assert check_completions(parser, grammar, letters, 5, 20) == 3
    random = Random(6)
    samples = {
        "json.lark": ['{"a": [1, -2.5e3, true], "b": {}}', '[[], "x\\n", null ]', " 0 "],
        "arithmetic.lark": ["a = f(x, 2 ** -y); (b) % 3", "1+2-3*4/5", "- - 1"],
        "words.lark": ["xend", "abcnd.", "stopstop", "endend"],
    }[file]
    for sample in samples:
        assert parses(parser, sample)
        for _ in range(40):
            changed = list(sample)
            at = random.randrange(len(changed))
            kind = random.randrange(3)
            if kind == 0:
                del changed[at]
            elif kind == 1:
                changed[at] = random.choice(sample)
            else:
                changed.insert(at, random.choice(sample))
            mutant = "".join(changed)
            assert shared.is_text(grammar, mutant.encode()) == parses(parser, mutant), mutant
