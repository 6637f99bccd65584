"""The native sampler in llama-cpp-python's chain of samplers.

`LlamaSampler`, which all of its generation goes through, is taught to take earmark's grammars: in
`add_grammar` it gets the native sampler instead of llama.cpp's; after `sample` and `accept` an
error of the native sampler is raised; `clone` finds the copy that llama.cpp has made.
`Llama.sample` refuses an earmark grammar that it would take no notice of, and `Llama.generate`
to go on when its model is closed or full, or was used for something else. For other grammars
nothing changes, but that both refuse a closed model, which llama.cpp would read.
"""

from __future__ import annotations

from ctypes import POINTER, c_void_p, cast
from functools import cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any

from earmark import Grammar, Matcher, MatchError
from earmark._earmark import NativeSampler, SamplerInterface
from earmark.llama_cpp._arguments import Arguments
from earmark.llama_cpp._grammar import LlamaGrammar
from earmark.llama_cpp._layout import sampler_layout
from earmark.llama_cpp._library import library
from earmark.llama_cpp._processor import FORBIDDEN, nothing_left, ours, processors_of
from earmark.llama_cpp._requests import check_penalties
from earmark.llama_cpp._use import Use
from earmark.llama_cpp._vocabulary import check_open, vocabulary

if TYPE_CHECKING:
    from collections.abc import Generator

_ATTRIBUTE = "_earmark_sampler"
_GRAMMAR = "_earmark_grammar"
_TAUGHT = "_earmark_taught"
# Samplers that change each logit by itself, as others' presence has no influence on it: they do
# the same after the grammar, for fewer candidates.
_AFTER_THE_GRAMMAR = frozenset({b"penalties"})


class Taken:
    """What calls are given as `grammar=` and earmark takes; `install()` adds the library's own."""

    types: tuple[type, ...] = (LlamaGrammar, Grammar)
    formats = False
    """Whether `response_format` and named tools are grammars of earmark's too, by `install()`."""


def is_ours(grammar: Any) -> bool:
    """Whether earmark takes what a call was given as `grammar=`."""
    return isinstance(grammar, Taken.types)


def _read(grammar: Any) -> Grammar:
    """The grammar that a call was given, as earmark's."""
    if not isinstance(grammar, LlamaGrammar | Grammar):
        grammar = LlamaGrammar.from_string(grammar._grammar)
    made: Grammar = grammar.grammar if isinstance(grammar, LlamaGrammar) else grammar
    return made


def _key(grammar: Any) -> Any:
    """What two ways to give the same grammar have in common."""
    return grammar.grammar if isinstance(grammar, LlamaGrammar) else grammar


def native_sampler(sampler: Any) -> NativeSampler | None:
    """The native sampler in a `LlamaSampler`, if it has one."""
    return getattr(sampler, _ATTRIBUTE, None)


def is_constrained(sampler: Any) -> bool:
    """Whether a `LlamaSampler` samples by one of earmark's grammars, in one way or the other."""
    return native_sampler(sampler) is not None or bool(processors_of(sampler))


def add_matcher(sampler: Any, matcher: Matcher) -> NativeSampler:
    """Put a native sampler into the chain of a `LlamaSampler`; it starts where `matcher` is.

    The chain owns it.
    """
    c = library()
    chain = sampler.sampler
    native = _interface().sampler(matcher)
    later = []
    while (count := c.llama_sampler_chain_n(chain)) > 0:
        last = c.llama_sampler_chain_get(chain, count - 1)
        # Samplers written in Python have no name, which llama_sampler_name() would call.
        name = last.contents.iface.contents.name
        if not name or name(last) not in _AFTER_THE_GRAMMAR:
            break
        later.append(c.llama_sampler_chain_remove(chain, count - 1))
    c.llama_sampler_chain_add(chain, cast(native.address, POINTER(c.llama_sampler)))
    for moved in reversed(later):
        c.llama_sampler_chain_add(chain, moved)
    setattr(sampler, _ATTRIBUTE, native)
    return native


@cache
def _interface() -> SamplerInterface:
    return SamplerInterface(sampler_layout(library()))


def teach() -> None:
    """Make `LlamaSampler` take earmark's grammars. A second call does nothing."""
    theirs = library("llama_cpp._internals").LlamaSampler
    if getattr(theirs, _TAUGHT, False):
        return
    _interface()
    add_grammar, sample, accept, clone = (
        theirs.add_grammar,
        theirs.sample,
        theirs.accept,
        theirs.clone,
    )

    @wraps(add_grammar)
    def add_grammar_(self: Any, model: Any, grammar: Any) -> None:
        if is_ours(grammar):
            add_matcher(self, Matcher(_read(grammar), vocabulary(model)))
            setattr(self, _GRAMMAR, _key(grammar))
        elif hasattr(grammar, "_grammar"):
            add_grammar(self, model, grammar)
        else:
            raise TypeError(
                "grammar is an earmark.llama_cpp.LlamaGrammar or an earmark.Grammar, "
                f"not {type(grammar).__qualname__}; LlamaGrammar.from_string() reads GBNF"
            )

    @wraps(sample)
    def sample_(self: Any, *args: Any, **kwargs: Any) -> Any:
        token = sample(self, *args, **kwargs)
        if native := native_sampler(self):
            _check_sampled(native, token)
        return token

    @wraps(accept)
    def accept_(self: Any, *args: Any, **kwargs: Any) -> None:
        accept(self, *args, **kwargs)
        if native := native_sampler(self):
            native.check()

    @wraps(clone)
    def clone_(self: Any) -> Any:
        copy = clone(self)
        if native := native_sampler(self):
            c = library()
            for index in range(c.llama_sampler_chain_n(copy.sampler)):
                sampler = c.llama_sampler_chain_get(copy.sampler, index)
                address = cast(sampler, c_void_p).value
                if address and (found := _interface().find(address, native)):
                    setattr(copy, _ATTRIBUTE, found)
                    setattr(copy, _GRAMMAR, getattr(self, _GRAMMAR, None))
        return copy

    llama = library("llama_cpp.llama").Llama
    sample_of_llama, generate, init = llama.sample, llama.generate, llama._init_sampler
    parameters = signature(generate)
    of_sample, of_generate = Arguments(sample_of_llama), Arguments(generate)
    of_init = Arguments(init)

    @wraps(init)
    def init_(self: Any, *args: Any, **kwargs: Any) -> Any:
        asked = of_init.of((self, *args), kwargs)
        if is_ours(asked.get("grammar")) or ours(asked.get("logits_processor")):
            check_penalties(asked)
        return init(self, *args, **kwargs)

    @wraps(sample_of_llama)
    def sample_of_llama_(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_open(self)
        if is_ours(grammar := of_sample.of((self, *args), kwargs).get("grammar")):
            _check_kept(self._sampler, grammar)
        return sample_of_llama(self, *args, **kwargs)

    @wraps(generate)
    def generate_(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_open(self)
        asked = of_generate.of((self, *args), kwargs)
        if not is_ours(asked.get("grammar")) and not ours(asked.get("logits_processor")):
            return generate(self, *args, **kwargs)
        call = parameters.bind(self, *args, **kwargs)
        prompt = call.arguments["tokens"] = list(call.arguments["tokens"])
        kept = 0 if call.arguments.get("reset", True) else self.n_tokens
        return _watched(self, generate(*call.args, **call.kwargs), kept + len(prompt))

    llama._init_sampler = init_
    llama.sample = sample_of_llama_
    llama.generate = generate_
    theirs.add_grammar = add_grammar_
    theirs.sample = sample_
    theirs.accept = accept_
    theirs.clone = clone_
    setattr(theirs, _TAUGHT, True)


def _check_sampled(native: NativeSampler, token: int) -> None:
    """Raise what went wrong while a token was sampled, by what brought it about.

    Raises:
        MatchError: No token is allowed, or one that is not was sampled all the same.
    """
    try:
        native.check()
    except MatchError as error:
        matcher = native.matcher()
        if len(matcher.allowed_tokens()) == 0:
            raise MatchError(nothing_left(matcher)) from error
        if str(error) != matcher.explain(token):
            raise  # It tells of its cause.
        raise MatchError(f"{error}; {FORBIDDEN}") from error


def _watched(
    llama: Any, tokens: Generator[int, Any, None], prompt: int
) -> Generator[int, Any, None]:
    """The tokens of `Llama.generate()`, which would go on whatever has become of its model.

    Args:
        llama: The `Llama`.
        tokens: What its `generate()` gives.
        prompt: How many tokens there are before the first of them.
    """
    length, sent = prompt, None
    sampler = use = None
    try:
        while True:
            check_open(llama)
            if use is not None and (llama._sampler is not sampler or not use.is_last()):
                raise RuntimeError(
                    "this Llama.generate() can't go on: its Llama has been used for something else "
                    "since; take its tokens before the next call, or load the model twice"
                )
            if length > llama.n_ctx():
                raise ValueError(_full(prompt, length, llama.n_ctx()))
            token = tokens.send(sent)
            sampler, use = llama._sampler, Use(llama)
            sent = yield token
            length += 1 + len(sent or ())
    except StopIteration:
        return
    finally:
        tokens.close()


def _full(prompt: int, length: int, room: int) -> str:
    if prompt > room:
        return (
            f"the prompt has {prompt} tokens and the context {room}; shorten it or load the model "
            "with a larger n_ctx"
        )
    return (
        f"the context of {room} tokens is full, by {prompt} of the prompt and {length - prompt} "
        "behind it; take fewer tokens, or load the model with a larger n_ctx"
    )


def _check_kept(kept: Any, grammar: Any) -> None:
    """Raise if the sampler that a `Llama` has kept is there, and not for this grammar."""
    if kept is not None and getattr(kept, _GRAMMAR, None) is not _key(grammar):
        raise RuntimeError(
            "sample() would take no notice of its grammar: the Llama has kept the sampler of its "
            "last call, which has another one or none; use Llama.generate(), one at a time"
        )
