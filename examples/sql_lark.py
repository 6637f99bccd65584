"""SQL over known tables by a Lark grammar: python examples/sql_lark.py MODEL.gguf."""

import sqlite3
import sys

from llama_cpp import Llama

from earmark.llama_cpp import LlamaGrammar

TABLES = "CREATE TABLE city (name TEXT, country TEXT, population INTEGER)"

GRAMMAR = r"""
start: "SELECT " columns " FROM city" [" WHERE " condition] [" ORDER BY " COLUMN order] [limit] ";"
columns: "*" | COLUMN ("," " " COLUMN)~0..2 | "COUNT(*)"
condition: comparison ((" AND " | " OR ") comparison)~0..2
comparison: COLUMN " " OPERATOR " " (NUMBER | STRING)
order: (" ASC" | " DESC")?
limit: " LIMIT " /[1-9][0-9]?/
COLUMN: "name" | "country" | "population"
OPERATOR: "=" | "<" | ">" | "<>"
NUMBER: /[0-9]{1,9}/
STRING: /'[A-Za-z ]{1,20}'/
"""


def main() -> None:
    """Ask for a query and run it: it can't be malformed, nor name a column that isn't there."""
    llama = Llama(sys.argv[1], n_ctx=1024, verbose=False)
    grammar = LlamaGrammar.from_lark(GRAMMAR)
    answer = llama.create_chat_completion(
        messages=[
            {"role": "system", "content": f"Answer with one SQLite query. {TABLES}"},
            {"role": "user", "content": "Which cities in France have over a million people?"},
        ],
        grammar=grammar,
        temperature=0.0,
        max_tokens=120,
    )
    query = answer["choices"][0]["message"]["content"]
    print(query)
    database = sqlite3.connect(":memory:")
    database.execute(TABLES)
    rows = [("Paris", "France", 2_100_000), ("Lyon", "France", 520_000), ("Rome", "Italy", 2.7e6)]
    database.executemany("INSERT INTO city VALUES (?, ?, ?)", rows)
    print(database.execute(query).fetchall())


if __name__ == "__main__":
    main()
