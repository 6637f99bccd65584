"""A transformers pipeline that answers in a schema: python examples/transformers_pipeline.py MODEL.

MODEL is the folder or the name of a causal language model with its tokenizer.
"""

import sys
from typing import Literal

from pydantic import BaseModel, Field
from transformers import pipeline

import earmark
from earmark.transformers import GrammarLogitsProcessor, vocabulary_of


class Order(BaseModel):
    """What a customer wants."""

    product: Literal["coffee", "tea", "juice"]
    cups: int = Field(ge=1, le=20)
    name: str = Field(min_length=1, max_length=30)


PROMPTS = [
    "Hi, it's Ada. Could I get three coffees for the meeting at ten?\nThe order as JSON: ",
    "Two teas for Grace, please.\nThe order as JSON: ",
]


def main() -> None:
    """Read two orders; what comes back is an `Order` whatever the model thinks."""
    generator = pipeline("text-generation", model=sys.argv[1])
    vocabulary = vocabulary_of(generator.tokenizer, generator.model)
    grammar = earmark.Grammar.from_json_schema(
        Order, whitespace="compact", additional_properties=False, integer_fractions=False
    )
    # One processor for one prompt after the other: it sees where a new one begins.
    processor = GrammarLogitsProcessor(grammar, vocabulary)
    for prompt in PROMPTS:
        answer = generator(
            prompt,
            logits_processor=[processor],
            max_new_tokens=200,
            do_sample=True,
            temperature=0.2,
            return_full_text=False,
        )
        print(Order.model_validate_json(answer[0]["generated_text"]).model_dump_json())


if __name__ == "__main__":
    main()
