"""The `earmark` command: check texts, look at masks, sample texts, report on schemas, and a demo.

Exit status: 0 where all went well, 1 where a text is not in the grammar, 2 where the command
could not run (a bad option, a grammar with errors, a file that is not there).
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

import earmark
from earmark.cli import check, demo, mask, report, sample
from earmark.cli.inputs import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

STATUS_ERROR = 2
STATUS_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and gives its exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except (InputError, earmark.GrammarError, earmark.VocabularyError) as error:
        print(f"earmark: {error}", file=sys.stderr)
        return STATUS_ERROR
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return STATUS_INTERRUPTED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="earmark",
        description="Exact token masks for language models, for any JSON Schema, Lark, GBNF "
        "or regex grammar.",
        epilog="'earmark demo' needs no files: it shows the loop at work.",
    )
    parser.add_argument("--version", action="version", version=f"earmark {earmark.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (demo, check, mask, sample, report):
        command.add_to(commands)
    return parser
