"""Writes the generated documents: `python benches/documents.py`.

They are long on purpose (about 500 tokens of Llama 3), each a stress of one kind of recursion,
made of words and shapes that the tokenizer meets in real text. The other documents are written by
hand. All are committed; this file says where they come from.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "documents"

WORDS = (
    "amount status region created price city name total quantity discount owner kind level "
    "weight country language order customer product score team project limit version channel"
).split()


class Dice:
    """The same numbers on every version of Python: a linear congruential generator."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def roll(self, sides: int) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % sides

    def pick(self, words: list[str]) -> str:
        return words[self.roll(len(words))]


def expression(dice: Dice, terms: int) -> str:
    """A long chain of comparisons and sums, with calls, lists and indexes inside."""
    parts = [comparison(dice)]
    for _ in range(terms - 1):
        parts.append(dice.pick(["and", "or", "and not"]))
        parts.append(comparison(dice))
    return " ".join(parts)


def comparison(dice: Dice) -> str:
    return f"{chain(dice)} {dice.pick(['==', '!=', '<=', '>=', '<', '>'])} {chain(dice)}"


def chain(dice: Dice) -> str:
    parts = [operand(dice)]
    for _ in range(dice.roll(4)):
        parts += [dice.pick(["+", "-", "*", "/"]), operand(dice)]
    return " ".join(parts)


def operand(dice: Dice) -> str:
    word = dice.pick(WORDS)
    match dice.roll(8):
        case 0:
            return str(dice.roll(10_000))
        case 1:
            return f"{dice.roll(100)}.{dice.roll(1000):03}"
        case 2:
            return f"'{word} {dice.pick(WORDS)}'"
        case 3:
            return f"{word}.{dice.pick(WORDS)}"
        case 4:
            return f"{word}[{dice.roll(12)}]"
        case 5:
            return f"max({word}, {dice.roll(100)})"
        case 6:
            return f"({word} - {dice.pick(WORDS)})"
        case _:
            return word


def flat_list(dice: Dice, items: int) -> str:
    """Items and commas; now and then a list inside."""
    parts = []
    for _ in range(items):
        inner = f"[{dice.pick(WORDS)},[{dice.pick(WORDS)},{dice.pick(WORDS)}]]"
        parts.append(inner if dice.roll(12) == 0 else dice.pick(WORDS))
    return ",".join(parts)


def brackets(dice: Dice, items: int) -> str:
    """Words, sums and brackets one after the other, which group in any way."""
    parts = []
    for _ in range(items):
        match dice.roll(5):
            case 0:
                parts.append("()")
            case 1:
                parts.append(f"({dice.pick(WORDS)}+{dice.pick(WORDS)})")
            case 2:
                parts.append(f"+{dice.pick(WORDS)}" if parts else dice.pick(WORDS))
            case _:
                parts.append(dice.pick(WORDS))
    return "".join(parts)


def main() -> None:
    texts = {
        "expressions": expression(Dice(1), 19),
        "right_list": flat_list(Dice(2), 220),
        "ambiguous": brackets(Dice(3), 275),
    }
    for name, text in texts.items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
