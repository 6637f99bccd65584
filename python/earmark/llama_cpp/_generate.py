"""Generation that doesn't ask the model what the grammar leaves no choice about.

Where the next bytes are forced, the tokens that the model's own tokenizer would write for them are
fed together with the token before them: one forward pass instead of one for each. The model never
gives its logits for those tokens; elsewhere it samples as `Llama.generate` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from earmark import Grammar, Matcher
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._sampler import native_sampler
from earmark.llama_cpp._status import Status, status
from earmark.llama_cpp._vocabulary import check_open


class Generation(Iterator[int]):
    """The tokens of one text, made while they are asked for. `generate` makes it.

    While it runs, its `Llama` must not be used for anything else.

    Attributes:
        forward_passes: How often the model was run so far, the prompt included.
        forced: How many of the tokens so far it was not asked for.
    """

    forward_passes: int
    forced: int

    def __init__(self, llama: Any, tokens: Sequence[int], sampler: Any, max_tokens: int) -> None:
        native = native_sampler(sampler)
        if native is None:
            raise TypeError("generate() takes an earmark.llama_cpp.LlamaGrammar or earmark.Grammar")
        self._llama, self._sampler, self._native = llama, sampler, native
        self._left = max_tokens
        self.forward_passes = self.forced = 0
        # What the model has not seen yet, and what the caller has not.
        self._pending = list(tokens)
        self._ready: deque[int] = deque()
        self._ended = False

    @property
    def matcher(self) -> Matcher:
        """A matcher in the state after the tokens so far."""
        return self._native.matcher()

    @property
    def status(self) -> Status:
        """Whether the tokens so far are a complete text."""
        return status(self.matcher)

    def __next__(self) -> int:
        while not self._ready:
            if self._ended or self._left <= 0:
                raise StopIteration
            self._force()
            if not self._ready:
                self._sample()
        self._left -= 1
        return self._ready.popleft()

    def _force(self) -> None:
        """Go on by the tokens about which there is no choice, and by the end if only that is."""
        matcher = self.matcher
        ends = matcher.vocabulary.eos_token_ids
        for token in matcher.forced_tokens()[: self._left]:
            self._sampler.accept(token)
            self._pending.append(token)
            self._ready.append(token)
            self.forced += 1
        if not self._ready and set(matcher.allowed_tokens().tolist()) <= set(ends):
            self._end(ends[0])

    def _sample(self) -> None:
        if self._ended:
            return
        llama = self._llama
        check_open(llama)
        if llama.n_tokens + len(self._pending) > llama.n_ctx():
            self._ended = True
            return
        if self._pending:
            llama.eval(self._pending)
            self.forward_passes += 1
            self._pending = []
        token = self._sampler.sample(llama._ctx)
        if token in self.matcher.vocabulary.eos_token_ids:
            self._ended = True
        else:
            self._pending.append(token)
            self._ready.append(token)

    def _end(self, token: int) -> None:
        if not self.matcher.is_finished:
            self._sampler.accept(token)
        self._ended = True


def generate(
    llama: Any,
    prompt: str | bytes | Sequence[int],
    grammar: LlamaGrammar | Grammar,
    *,
    max_tokens: int | None = None,
    **sampling: Any,
) -> Generation:
    """The tokens of a text of the grammar, forced ones without asking the model.

    Args:
        llama: A `llama_cpp.Llama`.
        prompt: Text, which is tokenized as `Llama.create_completion` does, or tokens.
        grammar: A `LlamaGrammar` or an `earmark.Grammar`.
        max_tokens: How many tokens at most. Default: what the context has room for.
        sampling: `temp`, `top_k` and what else `Llama.generate` has for sampling.

    Returns:
        An iterator of token ids, without the one that ends the text.

    Raises:
        TypeError: `grammar` is none of these.
        ValueError: The context has no room for the prompt and one token.
        VocabularyError: The model is closed, also while the tokens are asked for.
        GrammarError: The grammar names a token that the model does not have.
    """
    if isinstance(grammar, Grammar):
        grammar = LlamaGrammar(grammar)
    check_open(llama)
    tokens: list[int]
    if isinstance(prompt, str | bytes):
        text = prompt.encode() if isinstance(prompt, str) else prompt
        tokens = llama.tokenize(text, add_bos=llama._model.add_bos_token(), special=True)
    else:
        tokens = list(prompt)
    if not tokens:
        raise ValueError("the prompt is empty; the model needs one token at least, such as its BOS")
    room = llama.n_ctx() - len(tokens)
    if room <= 0:
        raise ValueError(
            f"the prompt has {len(tokens)} tokens and the context {llama.n_ctx()}; "
            "shorten it or load the model with a larger n_ctx"
        )
    sampler = llama._init_sampler(grammar=grammar, **sampling)
    _rewind(llama, tokens)
    wanted = room if max_tokens is None else min(max_tokens, room)
    return Generation(llama, tokens[llama.n_tokens :], sampler, wanted)


def _rewind(llama: Any, tokens: list[int]) -> None:
    """Keep what the model has already seen of the prompt, all but its last token at most."""
    known = library("llama_cpp.llama").Llama.longest_token_prefix(
        llama.input_ids[: llama.n_tokens].tolist(), tokens[:-1]
    )
    if known > 0 and llama._ctx.kv_cache_seq_rm(-1, known, -1):
        llama.n_tokens = known
    else:
        llama.reset()
