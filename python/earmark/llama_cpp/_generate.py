"""Generation that doesn't ask the model what the grammar leaves no choice about.

Where the next bytes are forced, the tokens that the model's own tokenizer would write for them are
fed together with the token before them: one forward pass instead of one for each. The model never
gives its logits for those tokens; elsewhere it samples as `Llama.generate` does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from operator import index
from typing import Any

from earmark import Grammar, Matcher
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._library import library
from earmark.llama_cpp._sampler import native_sampler
from earmark.llama_cpp._status import Status, status
from earmark.llama_cpp._use import Use
from earmark.llama_cpp._vocabulary import check_open


class Generation(Iterator[int]):
    """The tokens of one text, made while they are asked for. `generate` makes it.

    Its `Llama` is first used when the first token is asked for, and from then on must not be used
    for anything else while this runs.

    Attributes:
        forward_passes: How often the model was run so far, the prompt included.
        forced: How many of the tokens given so far it was not asked for.
    """

    forward_passes: int
    forced: int

    def __init__(
        self,
        llama: Any,
        tokens: Sequence[int],
        sampler: Any,
        max_tokens: int,
        seed: int | None = None,
    ) -> None:
        native = native_sampler(sampler)
        if native is None:
            raise TypeError("generate() takes an earmark.llama_cpp.LlamaGrammar or earmark.Grammar")
        self._llama, self._sampler, self._native = llama, sampler, native
        self._left, self._seed = max_tokens, seed
        self.forward_passes = self.forced = 0
        # What the model has not seen yet, and what the caller has not.
        self._pending = list(tokens)
        self._ready: deque[int] = deque()
        self._use: Use | None = None
        self._are_forced = False
        self._ended = False
        self._ends = frozenset(native.matcher().vocabulary.eos_token_ids)

    @property
    def matcher(self) -> Matcher:
        """A matcher in the state after the tokens given so far."""
        matcher = self._native.matcher()
        matcher.rollback(len(self._ready))
        return matcher

    @property
    def status(self) -> Status:
        """Whether the tokens given so far are a complete text."""
        return status(self.matcher)

    def __next__(self) -> int:
        if not self._ready and not self._ended and self._left > 0:
            if self._seed is not None:
                self._llama.set_seed(self._seed)
                self._seed = None
            self._force()
            if not self._ready and not self._ended:
                self._sample()
        if not self._ready:
            raise StopIteration
        self._left -= 1
        # Several are ready only where they are forced.
        self.forced += self._are_forced
        return self._ready.popleft()

    def _force(self) -> None:
        """Go on by the tokens about which there is no choice, and by the end if only that is."""
        matcher = self._native.matcher()
        forced = matcher.forced_tokens()[: self._left]
        self._are_forced = bool(forced)
        for token in forced:
            self._sampler.accept(token)
            self._pending.append(token)
            self._ready.append(token)
        if forced:
            return
        allowed = matcher.allowed_tokens()
        if 0 < len(allowed) <= len(self._ends) and self._ends.issuperset(allowed.tolist()):
            self._sampler.accept(int(allowed[0]))
            self._ended = True

    def _sample(self) -> None:
        llama = self._llama
        check_open(llama)
        if self._use is None:
            if len(self._pending) > llama.n_ctx():
                self._ended = True
                return
            self._pending = _rewind(llama, self._pending)
            self._use = Use(llama)
        elif not self._use.is_last():
            raise RuntimeError(
                "this generation can't go on: its Llama has been used for something else since; "
                "take its tokens before the next call, or load the model twice"
            )
        if llama.n_tokens + len(self._pending) > llama.n_ctx():
            self._ended = True
            return
        if self._pending:
            llama.eval(self._pending)
            self._use.goes_on()
            self.forward_passes += 1
            self._pending = []
        token = self._sampler.sample(llama._ctx)
        if token in self._ends:
            self._ended = True
        else:
            self._pending.append(token)
            self._ready.append(token)


def generate(
    llama: Any,
    prompt: str | bytes | Sequence[int],
    grammar: LlamaGrammar | Grammar,
    *,
    max_tokens: int | None = None,
    seed: int | None = None,
    **sampling: Any,
) -> Generation:
    """The tokens of a text of the grammar, forced ones without asking the model.

    Args:
        llama: A `llama_cpp.Llama`.
        prompt: Text, which is tokenized as `Llama.create_completion` does, or tokens.
        grammar: A `LlamaGrammar` or an `earmark.Grammar`.
        max_tokens: How many tokens at most, 1 or more. Default: what the context has room for.
        seed: As for `create_completion`; the `Llama` keeps it from the first token on. Default: the
            one that it has.
        sampling: `temp`, `top_k` and what else `Llama.generate` has for sampling.

    Returns:
        An iterator of token ids, without the one that ends the text.

    Raises:
        TypeError: `llama`, `prompt`, `grammar`, `max_tokens` or `seed` is none of these, or
            `sampling` has names that `Llama.generate` has not for sampling, such as `temperature`.
        ValueError: The context has no room for the prompt and one token, or `max_tokens` is
            less than 1, or the model does not have one of the prompt's tokens.
        RuntimeError: While the tokens are asked for: the `Llama` was used for something else.
        VocabularyError: The model is closed, also while the tokens are asked for.
        GrammarError: The grammar names a token that the model does not have.
    """
    if isinstance(grammar, Grammar):
        grammar = LlamaGrammar(grammar)
    if not isinstance(llama, library("llama_cpp.llama").Llama):
        raise TypeError(f"generate() takes a llama_cpp.Llama, not {type(llama).__qualname__}")
    check_open(llama)
    max_tokens, seed = _integer(max_tokens, "max_tokens"), _integer(seed, "seed")
    if max_tokens is not None and max_tokens < 1:
        raise ValueError(
            f"max_tokens is {max_tokens}; give 1 or more, or None for what the context has room for"
        )
    tokens = _tokens(llama, prompt)
    if not tokens:
        raise ValueError("the prompt is empty; the model needs one token at least, such as its BOS")
    room = llama.n_ctx() - len(tokens)
    if room <= 0:
        raise ValueError(
            f"the prompt has {len(tokens)} tokens and the context {llama.n_ctx()}; "
            "shorten it or load the model with a larger n_ctx"
        )
    _check_names(llama, sampling)
    wanted = room if max_tokens is None else min(max_tokens, room)
    sampler = _sampler(llama, seed, grammar=grammar, **sampling)
    return Generation(llama, tokens, sampler, wanted, seed)


# What other calls have by these names, and what there is instead.
_INSTEAD = {
    "temperature": "it is temp here, as in Llama.generate",
    "stop": "look for it in the text of the tokens, and take no more of them",
    "stopping_criteria": "look at the tokens, and take no more of them",
    "stream": "the tokens come one by one as they are",
}


def _check_names(llama: Any, sampling: dict[str, Any]) -> None:
    known = [it for it in signature(llama._init_sampler).parameters if it != "grammar"]
    for name in sampling:
        if name not in known:
            instead = _INSTEAD.get(name, f"for sampling there are {', '.join(known)}")
            raise TypeError(f"generate() has no {name}; {instead}")


def _sampler(llama: Any, seed: int | None, **sampling: Any) -> Any:
    """A sampler by a seed, which the `Llama` does not keep yet."""
    kept = llama._seed
    try:
        if seed is not None:
            llama.set_seed(seed)
        return llama._init_sampler(**sampling)
    finally:
        llama.set_seed(kept)


def _tokens(llama: Any, prompt: Any) -> list[int]:
    if isinstance(prompt, str | bytes):
        text = prompt.encode() if isinstance(prompt, str) else prompt
        tokens: list[int] = llama.tokenize(text, add_bos=llama._model.add_bos_token(), special=True)
        return tokens
    if not isinstance(prompt, Iterable):
        raise TypeError(f"a prompt is text or a list of tokens, not {prompt!r}")
    tokens = []
    for token in prompt:
        number = _integer(token, "a prompt's token")
        if number is None or not 0 <= number < llama.n_vocab():
            raise ValueError(f"a prompt's token is 0 to {llama.n_vocab() - 1}, not {token!r}")
        tokens.append(number)
    return tokens


def _integer(value: Any, name: str) -> int | None:
    try:
        return None if value is None else index(value)
    except TypeError:
        raise TypeError(f"{name} is an integer, not {value!r}") from None


def _rewind(llama: Any, tokens: list[int]) -> list[int]:
    """Keep what the model has already seen of some tokens, but for the last; give the others."""
    known: int = library("llama_cpp.llama").Llama.longest_token_prefix(
        llama.input_ids[: llama.n_tokens].tolist(), tokens[:-1]
    )
    # The logits at hand are those of what is dropped. Versions that have no such mark ask anew.
    llama._requires_eval = True
    if known > 0 and llama._ctx.kv_cache_seq_rm(-1, known, -1):
        llama.n_tokens = known
        return tokens[known:]
    llama.reset()
    return tokens
