"""The `openai` package against `python -m earmark.llama_cpp.server --model MODEL.gguf`.

python examples/openai_client.py http://localhost:8000/v1
"""

import sys
from enum import StrEnum

from openai import OpenAI
from pydantic import BaseModel


class Feeling(StrEnum):
    """What a review feels like."""

    GOOD = "good"
    BAD = "bad"


class Review(BaseModel):
    """What a review says."""

    feeling: Feeling
    stars: int


def main() -> None:
    """Structured outputs as with OpenAI's own models."""
    client = OpenAI(base_url=sys.argv[1], api_key="none")
    answer = client.chat.completions.parse(
        model="local",
        messages=[{"role": "user", "content": "Rate this review: 'Never again. Cold soup!'"}],
        response_format=Review,
        temperature=0,
        max_tokens=60,
    )
    print(answer.choices[0].message.parsed)


if __name__ == "__main__":
    main()
