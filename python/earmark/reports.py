"""What a grammar says of itself: its identity, and what became of a schema's keywords."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

KeywordStatus: TypeAlias = Literal["enforced", "annotation", "refused", "ignored"]

#: What a one-line repr has room for.
SHOWN = 3


class IgnoredKeyword(NamedTuple):
    """A keyword that a grammar does not enforce, because `unsupported="ignore"` said so."""

    pointer: str
    """Where its value stands in the schema: a JSON pointer (RFC 6901)."""
    keyword: str
    """Its name, such as `"not"`."""
    reason: str
    """Why it can't be enforced."""


class SchemaKeyword(NamedTuple):
    """What becomes of a keyword at one place of a schema."""

    pointer: str
    """Where its value stands in the schema: a JSON pointer (RFC 6901)."""
    keyword: str
    """Its name, such as `"maxLength"`."""
    status: KeywordStatus
    """`"enforced"`: exactly; `"annotation"`: it says nothing about what is valid (`title`, an
    unknown keyword); `"refused"` or `"ignored"`, as `unsupported` says: it can't be enforced."""
    reason: str
    """Why it is not enforced; empty for those that are, and where the status says it all."""


class SchemaReport:
    """What becomes of each keyword of a schema, in the order of the schema.

    `str(report)` is a table. A report is neither true nor false: ask `report.refused`.
    """

    __slots__ = ("keywords",)

    keywords: tuple[SchemaKeyword, ...]
    """All of them."""

    def __init__(self, keywords: Iterable[SchemaKeyword]) -> None:
        self.keywords = tuple(keywords)

    @property
    def enforced(self) -> list[SchemaKeyword]:
        """Those that the grammar enforces exactly."""
        return self._of("enforced")

    @property
    def annotations(self) -> list[SchemaKeyword]:
        """Those that say nothing about what is valid."""
        return self._of("annotation")

    @property
    def refused(self) -> list[SchemaKeyword]:
        """Those that can't be enforced, so that there is no grammar."""
        return self._of("refused")

    @property
    def ignored(self) -> list[SchemaKeyword]:
        """Those that can't be enforced and are left out, with `unsupported="ignore"`."""
        return self._of("ignored")

    def _of(self, status: KeywordStatus) -> list[SchemaKeyword]:
        return [keyword for keyword in self.keywords if keyword.status == status]

    def __iter__(self) -> Iterator[SchemaKeyword]:
        return iter(self.keywords)

    def __bool__(self) -> NoReturn:
        raise TypeError("a report is neither true nor false; ask report.refused")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SchemaReport) and self.keywords == other.keywords

    def __hash__(self) -> int:
        return hash(self.keywords)

    def __repr__(self) -> str:
        counts = Counter(keyword.status for keyword in self.keywords)
        parts = [f"{count} {status}" for status, count in counts.items()]
        amiss = [each.pointer for each in self.keywords if each.status in ("refused", "ignored")]
        places = ", ".join(map(repr, amiss[:SHOWN])) + (", …" if len(amiss) > SHOWN else "")
        return f"<SchemaReport: {', '.join(parts) or 'no keywords'}{places and f' at {places}'}>"

    def __str__(self) -> str:
        rows = [
            (each.status, each.pointer, f"  {each.reason}" if each.reason else "")
            for each in self.keywords
        ]
        status = max((len(row[0]) for row in rows), default=0)
        pointer = max((len(row[1]) for row in rows if row[2]), default=0)
        if not rows:
            return "no keywords"
        return "\n".join(f"{s:{status}}  {p:{pointer}}{r}".rstrip() for s, p, r in rows)


class GrammarInfo(NamedTuple):
    """What makes a grammar the one it is.

    `getattr(Grammar, f"from_{info.kind}")(grammar.source, **info.options)` makes it again.
    """

    kind: Literal["regex", "gbnf", "lark", "json_schema"]
    """The language of the source."""
    digest: str
    """64 hexadecimal digits (SHA-256) of kind, source, options and engine version: grammars with
    the same digest allow the same texts. White space between the parts of a JSON text, and the
    spelling of its strings, make no difference."""
    engine_version: str
    """The version of earmark: another one may read the same source otherwise."""
    options: dict[str, Any]
    """The keyword arguments it was made with, defaults included: a new dict, free to change."""


def grammar_info(kind: Any, source: str, options: dict[str, Any], version: str) -> GrammarInfo:
    """The identity of a grammar."""
    # Imported where they are used: `import earmark` takes twice as long with them.
    import hashlib
    import json

    told = options
    if kind == "json_schema":
        source = canonical_json(source)
        resources = {uri: canonical_json(text) for uri, text in options["resources"].items()}
        told = options | {"resources": resources}
    identity = json.dumps([version, kind, source, told], sort_keys=True, separators=(",", ":"))
    return GrammarInfo(kind, hashlib.sha256(identity.encode()).hexdigest(), version, options)


def canonical_json(text: str) -> str:
    """A JSON text without white space between its parts, its strings spelled one way.

    Members stay in their order, which JSON Schema has a use for, and numbers as they are.
    """
    import re

    return re.sub(r'"(?:[^"\\]|\\.)*"|[ \t\n\r]+', _canonical_part, text)


def _canonical_part(match: re.Match[str]) -> str:
    part = match.group()
    if not part.startswith('"'):
        return ""
    import json

    return json.dumps(json.loads(part), ensure_ascii=False) if "\\" in part else part
