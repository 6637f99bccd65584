"""An example or more for each row of README's tables of what is supported."""

from __future__ import annotations

from dataclasses import dataclass

import earmark

NAMED, END = 256, 257
TOKENS = earmark.Vocabulary(
    [*(bytes([byte]) for byte in range(256)), b"<|x|>", b"</s>"],
    eos_token_ids=END,
    special_token_ids=[NAMED],
)
"""The bytes, and a token that grammars may name."""


@dataclass(frozen=True)
class Example:
    """A grammar with texts of it and others, as token ids; no texts where it is refused."""

    grammar: str
    texts: list[bytes | list[int]] | None
    others: list[bytes | list[int]]


def yes(grammar: str, *texts: str | bytes | list[int], no: str = "") -> Example:
    """A grammar with some of its texts, and words that are none."""
    given = [text.encode() if isinstance(text, str) else text for text in texts]
    return Example(grammar, given, [word.encode() for word in no.split()])


def refused(*grammars: str) -> list[Example]:
    return [Example(grammar, None, []) for grammar in grammars]


LARK = {
    r"rules, `\|`, `( )`, `[ ]`, `?` `*` `+`, `~n`, `~n..m`": [
        yes(
            'start: ("a" | b) ["c"] "d"? "e"* "f"+ "g"~2 "h"~1..2\nb: "b"',
            "afggh",
            "bcdeeffgghh",
            no="afgh afgghhh",
        ),
    ],
    'strings, `"…"i`, ranges `"a".."z"`, regexps `/…/imsux`': [
        yes('start: "é" "ab"i "c".."e" /[x-z]+/i', "éABdYz", no="éabf"),
        yes("start: /a.b/s /c d/x /é/u /e/m", "a\nbcdée"),
    ],
    "left and right recursion, empty rules, ambiguity": [
        yes('start: start "a" | b | start start\nb: "c" b | "c" nothing\nnothing:', "ca", "ccaac"),
    ],
    "templates `pair{x, y}: …`": [
        yes('start: pair{"a", INT}\npair{x, y}: x "=" y\nINT: /[0-9]+/', "a=12", no="12=a"),
    ],
    "`%import common.NAME`, `%import lib (A, B)`, `-> NEW_NAME`": [
        yes("start: INT NAME\n%import common.INT\n%import common.CNAME -> NAME", "12ab", no="12"),
        yes("start: INT WORD name\n%import common (INT, WORD)\n%import python (name)", "1ab"),
    ],
    "`%ignore`": [
        yes('start: A B\nA: "a" "a"\nB: "b"\n%ignore " "', "aab", " aa  b ", no="a"),
        yes('start: A\nA: "a" "a"\n%ignore "."', ".aa.", no="a.a"),
    ],
    "tree shaping (`?rule`, `!rule`, `_rule`, `-> alias`), priorities": [
        yes('?start: a | b -> alias\n!a: "x"\n_c: "y"\nb.2: _c T\nT.3: "t"', "x", "yt", no="y"),
    ],
    "lazy repetition, look-behind of one character": [
        yes('start: /".*?"/ "x"', '"ab"x', no='"a"b"x'),
        yes(r'start: /".*?(?<!\\)"/', r'"a\"b"', no=r'"a\"'),
    ],
    "terminals end": [yes('start: /[a-z]+/ "x"', "abx", "xx", no="ab")],
    "lookahead, backreferences, anchors, word boundaries, possessive and atomic groups": refused(
        'start: /b(?=c)/ "c"',
        "start: /(?!b)c/",
        r"start: /(a)\1/",
        "start: /^a/",
        "start: /a$/",
        r"start: /\ba/",
        "start: /a++/",
        "start: /(?>a)/",
    ),
    "`%declare`, `%override`, `%extend`, relative imports, recursive terminals": refused(
        "start: A\n%declare A",
        'start: "a"\n%override start: "b"',
        'start: "a"\n%extend start: "b"',
        "start: x\n%import .lib.x",
        'start: A\nA: "a" A | "b"',
    ),
    "model tokens by name or id": refused('start: <|x|> "a"', 'start: <[256]> "a"'),
}

GBNF = {
    r"rules, `\|`, `( )`, `?` `*` `+`, `{n}` `{n,}` `{n,m}`, comments": [
        yes(
            'root ::= ("a" | b)? "c"* "d"+ "e"{2} "f"{1,} "g"{1,2} # c\nb ::= "b"',
            "adeefg",
            "bccddeeffgg",
            no="adefg adeefggg",
        ),
    ],
    r"strings, classes `[a-z]` `[^…]`, `.`, escapes `\n` `\x` `\u` `\U`": [
        yes(r'root ::= [^a-z] . "\n\x41\u00e9\U0001F600" [\]]', "A\n\nAé😀]", no="aa"),
    ],
    "token terminals `<name>`, `<[id]>`, `!<name>`, `!<[id]>`": [
        yes('root ::= <|x|> "a"', [NAMED, ord("a")], no="<|x|>a"),
        yes("root ::= <[256]> !<|x|>", [NAMED, ord("b")]),
        yes("root ::= !<[97]>", "b", [NAMED], no="a"),
    ],
    "left recursion, cycles, empty alternatives": [
        yes('root ::= root "a" | other | "b"\nother ::= root | ', "", "baa", "aa", no="ab"),
    ],
    "unknown escapes, undefined rules, rules defined twice": refused(
        r'root ::= "\q"',
        "root ::= other",
        'root ::= "a"\nroot ::= "b"',
    ),
}

REGEX = {
    r"classes, `\d` `\w` `\s` `\p{…}` (Unicode), set operations in classes": [
        yes(r"\d\w\s\p{Greek}[a-z&&[^aeiou]]", "1é αb", "٣a\u2003ωz", no="1"),
    ],
    "groups, alternatives, all repetitions, flags `(?i)` `(?s)` `(?x)` …": [
        yes("(?P<n>a)(?:b)|c*?d{,3}", "ab", "ccdd", no="abab dddd"),
        yes("(?i)ab(?-i)c", "ABc", no="abC"),
        yes("(?s)a.b", "a\nb"),
        yes("(?x) a b # c", "ab"),
        yes("(?m)a|^b$", "a", "b"),
    ],
    r"anchors `^` `$` `\A` `\z`": [
        yes("a*^b", "b", no="ab"),
        yes(r"\Aa(b$|c)d?\z", "ab", "acd", no="abd"),
    ],
    "anchors of lines (`(?m)`) within the text": refused("(?m)^a$\n^b$"),
    "bytes that are not UTF-8": [yes(r"(?-u:\xFF)a", b"\xffa", no="ÿa")],
    "lookaround, backreferences, word boundaries, atomic groups": refused(
        "a(?=b)",
        "a(?!b)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"\ba",
        r"a\B",
        "(?>a)",
    ),
}

EXAMPLES = {"Lark": LARK, "GBNF": GBNF, "Regex": REGEX}
