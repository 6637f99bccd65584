"""What a larger vocabulary costs: MaskBench's masks with Gemma 3's tokens beside Llama 3's.

    python benches/widths.py                   # all schemas
    python benches/widths.py --schemas 300     # an even sample

262,144 tokens beside 128,256, a process each, as `maskbench.py` measures; each document is cut by
the vocabulary's own tokenizer, so the places differ, but the texts are the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import tokenizer
from maskbench_report import KINDS, SHARES, statistics, together
from maskbench_run import DATA, Contestant, cases_of, even, measure
from sources import SHARED
from table import header, number, row, times

TOKENIZERS = {"Llama 3": "llama3", "Gemma 3": "gemma3"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="as in maskbench.py")
    parser.add_argument("--schemas", type=int, metavar="N", help="an even sample of N")
    options = parser.parse_args()
    cases = cases_of(options.data)
    if options.schemas:
        cases = [cases[at] for at in even(options.schemas, len(cases))]
    contestants = [
        Contestant(
            name, tokenizer.load(SHARED / "tokenizers" / f"{file}.json.gz"), engine="earmark"
        )
        for name, file in TOKENIZERS.items()
    ]
    measure(cases, contestants)
    columns = ["mean", *SHARES]
    print("\n".join(header(["µs of CPU", "vocabulary"], columns)))
    found = {one.name: together(one, one, cases)[0] for one in contestants}
    for kind in KINDS:
        small, large = (statistics(found[one.name][kind]) for one in contestants)
        for one, figures in zip(contestants, (small, large), strict=True):
            title = f"{one.name}, {len(one.tokens.tokens):,} tokens"
            print(row(kind, title, *(number(figures[name]) for name in columns)))
        print(row(kind, "ratio", *(times(large[name], small[name]) for name in columns)))


if __name__ == "__main__":
    main()
