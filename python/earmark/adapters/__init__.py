"""Adapters: real tokenizers → the arguments of `earmark.Vocabulary`.

One module a library (`huggingface`, `tiktoken`, `mistral`, `llama_cpp`, `gguf`), each with one
function `parts`, which the class method `Vocabulary.from_…` of the same name calls. Modules that
start with an underscore are what they share.

What they promise:

- A token's bytes come from the vocabulary's own table, never from decoding the token on its own:
  tokenizers strip spaces and replace broken characters when they decode.
- Where the tokenizer can encode, the table is checked against it on sample texts. A table that
  was read wrongly is an error, not a wrong mask.
- Special tokens (control tokens, end of sequence) are never text; their bytes are their names.
- A library is imported when its adapter is called, not before, and nothing is downloaded.
"""
