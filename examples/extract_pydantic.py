"""A pydantic model filled in from a text: python examples/extract_pydantic.py MODEL.gguf."""

import sys
from typing import Literal

from llama_cpp import Llama
from pydantic import BaseModel, Field

from earmark.llama_cpp import LlamaGrammar


class Order(BaseModel):
    """What a customer wants."""

    product: Literal["coffee", "tea", "juice"]
    cups: int = Field(ge=1, le=20)
    name: str = Field(min_length=1, max_length=30)


TEXT = "Hi, it's Ada. Could I get three coffees for the meeting at ten?"


def main() -> None:
    """Ask the model once; what comes back is an `Order` whatever the model thinks."""
    llama = Llama(sys.argv[1], n_ctx=1024, verbose=False)
    grammar = LlamaGrammar.from_json_schema(Order, integer_fractions=False)
    answer = llama.create_chat_completion(
        messages=[
            {"role": "system", "content": "Extract the order as JSON: product, cups, name."},
            {"role": "user", "content": TEXT},
        ],
        grammar=grammar,
        temperature=0.2,
        max_tokens=200,
    )
    choice = answer["choices"][0]
    if not choice["earmark"]["complete"]:
        raise SystemExit("max_tokens was too small for the whole answer")
    order = Order.model_validate_json(choice["message"]["content"])
    print(order.model_dump_json())


if __name__ == "__main__":
    main()
