"""earmark in llama-cpp-python.

Either give a call one of these grammars::

    from earmark.llama_cpp import LlamaGrammar
    llama.create_completion(prompt, grammar=LlamaGrammar.from_json_schema(schema))

or let the library's own grammars, `response_format`, `tools` and the server use earmark::

    import earmark.llama_cpp
    earmark.llama_cpp.install()

Importing this teaches llama-cpp-python's sampler to take earmark's grammars, and its results to
say whether a text is complete (`choice["earmark"]`); without such a grammar nothing changes, but
that a closed `Llama` is refused, which llama.cpp would read.
docs/llama-cpp.md is the guide.

Not thread-safe: a `Llama`, which may be used by one thread at a time, as ever. Everything of
earmark's may be shared.
"""

from earmark.llama_cpp import _processor, _sampler, _status
from earmark.llama_cpp._generate import Generation, generate
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._install import install, installed, uninstall
from earmark.llama_cpp._library import UnsupportedLlamaCppError
from earmark.llama_cpp._processor import GrammarLogitsProcessor
from earmark.llama_cpp._status import Status
from earmark.llama_cpp._vocabulary import vocabulary

_processor.teach()
_sampler.teach()
_status.teach()

__all__ = [
    "Generation",
    "GrammarLogitsProcessor",
    "LlamaGrammar",
    "Status",
    "UnsupportedLlamaCppError",
    "generate",
    "install",
    "installed",
    "uninstall",
    "vocabulary",
]
