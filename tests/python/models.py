"""Some of the sample grammars once more, by hand, for the independent recogniser in `stacks`."""

from __future__ import annotations

from stacks import Node, alt, bind, chars, later, one_of, opt, plus, seq, star

DIGIT = chars("0-9")


def json() -> Node:
    """`json.gbnf`: white space anywhere between the tokens."""
    space = star(one_of(*b" \t\n\r"))
    hexadecimal = one_of(*b"0123456789abcdefABCDEF")
    plain = chars((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF))
    escape = seq(
        "\\", alt(one_of(*b'"\\/bfnrt'), seq("u", hexadecimal, hexadecimal, hexadecimal, hexadecimal))
    )
    string = seq('"', star(alt(plain, escape)), '"')
    number = seq(
        opt("-"),
        alt("0", seq(chars("1-9"), star(DIGIT))),
        opt(".", plus(DIGIT)),
        opt(one_of(*b"eE"), opt(one_of(*b"+-")), plus(DIGIT)),
    )
    value = later()
    member = seq(string, space, ":", space, value)
    members = opt(member, star(space, ",", space, member), space)
    values = opt(value, star(space, ",", space, value), space)
    bind(
        value,
        alt(
            seq("{", space, members, "}"),
            seq("[", space, values, "]"),
            string,
            number,
            "true",
            "false",
            "null",
        ),
    )
    return seq(space, value, space)


def arithmetic() -> Node:
    """`arithmetic.lark`: loops instead of left recursion, spaces after every terminal."""
    space = star(one_of(*b" \t"))

    def terminal(part: Node | str) -> Node:
        return seq(part, space)

    digits = plus(DIGIT)
    exponent = opt(one_of(*b"eE"), opt(one_of(*b"+-")), digits)
    number = terminal(seq(digits, opt(".", digits), exponent))
    name = terminal(seq(chars("a-z", "A-Z", "_"), star(chars("a-z", "A-Z", "_", "0-9"))))
    total = later()
    opening, closing, comma = terminal("("), terminal(")"), terminal(",")
    arguments = opt(total, star(comma, total))
    atom = alt(number, name, seq(name, opening, arguments, closing), seq(opening, total, closing))
    unary = seq(star(terminal(one_of(*b"+-"))), atom)
    power = seq(unary, star(terminal("**"), unary))
    product = seq(power, star(terminal(one_of(*b"*/%")), power))
    bind(total, seq(product, star(terminal(one_of(*b"+-")), product)))
    statement = seq(opt(name, terminal("=")), total)
    return seq(space, statement, star(terminal(";"), statement))


def words() -> Node:
    """`words.lark`."""
    letter = chars("a-z")
    return seq(plus(plus(letter)), alt("end", "nd.", seq(star(letter), "stop")))


def japanese() -> Node:
    """`japanese.gbnf`."""
    kana = chars("ぁ-ゖ", "ゝ-ゞ", "ァ-ヺ", "ー")
    kanji = chars("一-鿿", "々", "〆")
    number = seq(plus(chars("0-9", "０-９")), opt(chars(*"年月日時分秒円人")))
    latin = plus(chars("A-Z", "a-z", "Ａ-Ｚ", "ａ-ｚ"))
    comma = chars("、", "，")
    stop = chars("。", "！", "？")
    part = later()
    parts = seq(part, star(comma, part))
    quoted = alt(seq("「", parts, opt(stop), "」"), seq("『", part, "』"))
    bind(part, plus(alt(plus(kana), plus(kanji), number, quoted, latin)))
    return plus(parts, stop, opt("\n"))
