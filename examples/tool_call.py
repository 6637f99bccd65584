"""A tool call with llama-cpp-python's own `tools=`: python examples/tool_call.py MODEL.gguf."""

import json
import sys

from llama_cpp import Llama

import earmark.llama_cpp


def thermostat(room: str, celsius: float) -> str:
    """Set a room's temperature."""
    return f"{room}: {celsius} °C"


TOOL = {
    "type": "function",
    "function": {
        "name": "thermostat",
        "description": "Set a room's temperature.",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"enum": ["kitchen", "bedroom", "bath"]},
                "celsius": {"type": "number", "minimum": 5, "maximum": 30, "multipleOf": 0.5},
            },
            "required": ["room", "celsius"],
            "additionalProperties": False,
        },
    },
}


def main() -> None:
    """One line more than without earmark: `install()`."""
    earmark.llama_cpp.install()
    llama = Llama(sys.argv[1], n_ctx=1024, verbose=False)
    answer = llama.create_chat_completion(
        messages=[{"role": "user", "content": "It is cold in the bath, 23 degrees would be nice."}],
        tools=[TOOL],
        tool_choice={"type": "function", "function": {"name": "thermostat"}},
        temperature=0.0,
        max_tokens=100,
    )
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    arguments = json.loads(call["function"]["arguments"])
    print(thermostat(**arguments))


if __name__ == "__main__":
    main()
