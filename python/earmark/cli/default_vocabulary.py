"""A small vocabulary that is made on the spot, so that the commands run without any download.

It is shaped like a real one: single bytes, frequent beginnings, words with and without the space
before them, numbers, runs of white space, and the pieces that JSON and programs are written in.
"""

from __future__ import annotations

from earmark import Vocabulary

WORDS = """
the of and to in a is that for it as was with be by on not he his but at are this have from or
had an they which one you were all her she there would their we him been has when who will no
more if out so up said what its about than into them can only other time new some could these two
may first then do any like my now over such our man me even most made after also did many off
before must well back through years where much your way down should because long each just state
those people too mister how little good world make very year still see work life get here between
both under never same day another know while last might us great old come since go against came
right used take three himself few house use during without again place around however home small
found thought went say part once general high upon school every does got left until water number
away put thing always end name table set read open order type date street city country first last
email address phone price total amount count index item list value true false null none status
error result data text title author tags user users id key width height color size length default
import return class function def self print while else elif break continue string integer object
array boolean enum select insert update delete where group limit join create table let const var
Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April June July
August September October November December Ada Alan Grace Linus Paris London Berlin Tokyo
""".split()

ENDINGS = """
ing ed er est ly tion ment ness able ible ful less ous ive al ial ic ize ise ist ism ity ty ry
th ch sh st nd nt ss ll ee oo ea ou ai qu ck gh ph wh es en an on in at or ar us um ia io ae
""".split()

JOINTS = r"""
{" "} ": ", "], }, {} [] [" "] [{ }] }} ]] null, true, false, \" \n \u \\ () (" ") ); (); => ->
== != <= >= && || ++ -- += -= // /* */ :: ... .. </ /> <!-- --> ## ``` http https :// .com .org
www. @ .py .json
""".split()

#: Joints that hold spaces.
SPACED = ['": ', '": "', '": [', '": {', '", ', '", "', "}, {", "], [", ", ", ": ", " = ", "{ "]

LONGEST_RUN = 16


def default_vocabulary() -> Vocabulary:
    """The vocabulary; the same ids in every process."""
    pieces: dict[bytes, None] = {bytes([byte]): None for byte in range(256)}
    for word in WORDS:
        for form in (word, word.capitalize()):
            # Tokenizers that merge pairs keep the beginnings that a word was merged from.
            for end in range(2, len(form) + 1):
                pieces.setdefault(form[:end].encode())
                pieces.setdefault(b" " + form[: end - 1].encode())
            pieces.setdefault(b" " + form.encode())
    pieces.update((piece.encode(), None) for piece in ENDINGS + JOINTS + SPACED)
    pieces.update((str(number).encode(), None) for number in range(1000))
    for run in range(2, LONGEST_RUN + 1):
        pieces.update({b" " * run: None, b"\n" + b" " * run: None, b"\t" * run: None})
    pieces.update({b"\n\n": None, b",\n": None, b"{\n": None, b"[\n": None})
    tokens = [*pieces, b"<|start|>", b"<|end|>"]
    start, end = len(pieces), len(pieces) + 1
    return Vocabulary(
        tokens, eos_token_ids=end, special_token_ids=[start], encode=GreedyEncoder(list(pieces))
    )


class GreedyEncoder:
    """The longest token first, again and again: bytes to ids."""

    def __init__(self, tokens: list[bytes]) -> None:
        self._ids = {token: token_id for token_id, token in enumerate(tokens)}
        self._longest = max(map(len, tokens))

    def __call__(self, text: bytes) -> list[int]:
        """The ids of the text's tokens."""
        ids = []
        start = 0
        while start < len(text):
            for end in range(min(len(text), start + self._longest), start, -1):
                token_id = self._ids.get(text[start:end])
                if token_id is not None:
                    ids.append(token_id)
                    start = end
                    break
        return ids
