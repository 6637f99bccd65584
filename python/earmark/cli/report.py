"""`earmark report`: what becomes of each keyword of a JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from earmark.cli.inputs import add_schema_options, read_report

if TYPE_CHECKING:
    import argparse

    from earmark.cli.inputs import Commands


def add_to(commands: Commands) -> None:
    """Adds the command."""
    parser = commands.add_parser(
        "report",
        help="say which keywords of a JSON Schema are enforced",
        description="Say what becomes of each keyword of a JSON Schema, a line each: whether it "
        "is enforced, its JSON pointer, and if not, why. Exit status 1: some are refused.",
    )
    parser.add_argument(
        "grammar",
        metavar="SCHEMA",
        help="a file, '-' for standard input, or the schema itself after 'json_schema:'",
    )
    add_schema_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the report; gives 1 if a keyword is refused."""
    report = read_report(options)
    print(report)
    return 1 if report.refused else 0
