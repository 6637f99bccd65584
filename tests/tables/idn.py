"""Write the tables of international domain names: ``python tests/tables/idn.py``.

Needs the package ``idna`` (its tables of RFC 5892's derived properties, scripts and joining types)
and takes general categories, bidirectional classes and combining classes from Python's own
``unicodedata``; characters that either does not know are left out. The output is
``rust/frontend/json_schema/format/idn_tables.rs``.

Only `LABEL` is exact. The other classes are used on characters of labels and dots alone, so each
has the fewest ranges that are right on those.
"""

import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from idna import idnadata

OUTPUT = Path(__file__).parents[2] / "rust/frontend/json_schema/format/idn_tables.rs"

HEAD = """\
//! Classes of characters in international domain names, as ranges.
//!
//! Written by `tests/tables/idn.py` (Unicode {version}); change that instead. All classes but
//! [`LABEL`] are right on its characters, capital letters of ASCII and dots, and on no others.

use super::pen::Ranges;
"""

# What else occurs in names: capital letters of ASCII, and the four dots.
AROUND = [*range(0x41, 0x5B), 0x2E, 0x3002, 0xFF0E, 0xFF61]

# Characters that depend on their neighbours; the digits are all but free.
CONTEXTUAL = [0xB7, 0x375, 0x5F3, 0x5F4, 0x200C, 0x200D, 0x30FB]
GERESH = {0x5F3, 0x5F4}
DIGITS = [*range(0x660, 0x66A), *range(0x6F0, 0x6FA)]

# Where the marks are that labels from right to left, and joining scripts, really use.
MARKS_OF_RIGHT_TO_LEFT = [
    (0x300, 0x36F),
    (0x590, 0x8FF),
    (0x1800, 0x18AF),
    (0xFE20, 0xFE2F),
    (0x10A00, 0x10FFF),
    (0x1E800, 0x1E95F),
]


def decoded(packed: Iterable[int]) -> set[int]:
    """Turn the package's packed half-open ranges into the set of their members."""
    return {code for pair in packed for code in range(pair >> 32, pair & 0xFFFFFFFF)}


def members(listed: Iterable[int]) -> set[int]:
    """Accept joining types as single characters or packed ranges."""
    return {code for value in listed for code in (decoded([value]) if value >> 32 else {value})}


def rust(name: str, summary: str, codes: set[int], universe: set[int] | None) -> str:
    """Write one table; gaps without members of the universe are bridged."""
    ranges: list[list[int]] = []
    touching = False
    for code in sorted(codes if universe is None else universe):
        if code not in codes:
            touching = False
            continue
        if ranges and (touching if universe is not None else ranges[-1][1] + 1 == code):
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
        touching = True
    lines = [f"\n/// {summary}", f"pub(super) const {name}: &Ranges = &["]
    items = [f"('\\u{{{low:x}}}', '\\u{{{high:x}}}')," for low, high in ranges]
    while items:
        line = "   "
        while items and len(line) + len(items[0]) < 99:
            line += " " + items.pop(0)
        lines.append(line)
    return "\n".join([*lines, "];", ""])


def main() -> None:
    """Write the file."""
    label = decoded(idnadata.codepoint_classes["PVALID"]).union(CONTEXTUAL, DIGITS)
    label = {code for code in label if unicodedata.category(chr(code)) != "Cn"}

    def having(test: Callable[[str], bool]) -> set[int]:
        return {code for code in label if test(chr(code))}

    scripts = {name: decoded(packed) & label for name, packed in idnadata.scripts.items()}
    kinds = {name: members(listed) & label for name, listed in idnadata.joining_types.items()}
    transparent = {
        code
        for code in kinds["T"]
        if unicodedata.bidirectional(chr(code)) == "NSM"
        and any(low <= code <= high for low, high in MARKS_OF_RIGHT_TO_LEFT)
    }
    bidi = unicodedata.bidirectional
    tables = [
        ("LABEL", "What labels are made of, in the right places.", label),
        ("MARK", "Combining marks.", having(lambda c: unicodedata.category(c)[0] == "M")),
        ("VIRAMA", "Marks of combining class 9.", having(lambda c: unicodedata.combining(c) == 9)),
        ("GREEK", "The script Greek, without U+0375.", scripts["Greek"] - {0x375}),
        ("HEBREW", "The script Hebrew, without U+05F3 and U+05F4.", scripts["Hebrew"] - GERESH),
        (
            "KANA_OR_HAN",
            "The scripts Hiragana, Katakana and Han.",
            scripts["Hiragana"] | scripts["Katakana"] | scripts["Han"],
        ),
        (
            "JOINS_AFTER",
            "What joins the character after it (joining types L and D).",
            kinds["L"] | kinds["D"],
        ),
        (
            "JOINS_BEFORE",
            "What joins the character before it (joining types R and D).",
            kinds["R"] | kinds["D"],
        ),
        ("JOINS_BOTH", "What joins both (joining type D).", kinds["D"]),
        ("TRANSPARENT", "Marks without direction that joining passes over.", transparent),
        (
            "RIGHT_TO_LEFT",
            "Letters from right to left (bidirectional classes R and AL).",
            having(lambda c: bidi(c) in {"R", "AL"}),
        ),
        (
            "ARABIC_NUMBER",
            "Digits of bidirectional class AN.",
            having(lambda c: bidi(c) == "AN"),
        ),
        (
            "EUROPEAN_NUMBER",
            "Digits of bidirectional class EN.",
            having(lambda c: bidi(c) == "EN"),
        ),
        (
            "NEUTRAL",
            "Bidirectional classes ES, CS, ET and ON.",
            having(lambda c: bidi(c) in {"ES", "CS", "ET", "ON"}),
        ),
    ]
    text = HEAD.format(version=unicodedata.unidata_version)
    for name, summary, codes in tables:
        text += rust(name, summary, codes, None if name == "LABEL" else label.union(AROUND))
    OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
