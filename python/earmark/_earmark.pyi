"""The engine. This file is the reference of the three classes; import them from `earmark`.

Everything here may be used from several threads: `Vocabulary` and `Grammar` never change, calls
on one `Matcher` come one after the other, and other Python threads run while the engine works.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, SupportsIndex, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from earmark.reports import GrammarInfo, IgnoredKeyword, SchemaReport

__all__ = [
    "Grammar",
    "Matcher",
    "NativeSampler",
    "SamplerInterface",
    "Vocabulary",
    "__version__",
    "accept_all",
    "decode_pieces",
    "fill_masks",
    "llama_vocab_table",
]

__version__: str

@final
class Vocabulary:
    """The tokens of a model: what each id stands for, which ids end the text, which are special.

    It never changes, costs some 100 bytes a token and is best made once per process and model.
    Pickling keeps `encode` only if that can be pickled itself.

    Args:
        tokens: The bytes of each token, in the order of the ids. `b""` is a token without text:
            it is never allowed. Bytes, not str: tokens may end inside a character.
        eos_token_ids: The id or ids that end the text. They are special too.
        special_token_ids: Ids that are never text, such as `<|begin_of_text|>`. They are allowed
            only where a grammar names them (`<|tool_call|>` in GBNF); their bytes are
            that name.
        width: The number of the model's logits, where that is more than there are tokens. Ids
            past the last token are never allowed.
        encode: The tokenizer's own `bytes → ids`, without special tokens around the text; None
            for bytes that it has no ids for. Only `Matcher.forced_tokens` needs it.

    Raises:
        TypeError: A token is not bytes, or an id is not an int.
        VocabularyError: There are no tokens, an id or the width is out of range.
    """

    def __new__(
        cls,
        tokens: Iterable[bytes],
        *,
        eos_token_ids: SupportsIndex | Iterable[SupportsIndex],
        special_token_ids: Iterable[SupportsIndex] | None = None,
        width: SupportsIndex | None = None,
        encode: Callable[[bytes], Sequence[int] | None] | None = None,
    ) -> Vocabulary: ...
    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        width: int | None = None,
        eos_token_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a Hugging Face tokenizer.

        Args:
            tokenizer: A `tokenizers.Tokenizer`, a fast tokenizer of `transformers`, or a
                `tokenizer.json`: its path, the path of its folder, or its text.
            width: As for `Vocabulary`.
            eos_token_ids: As for `Vocabulary`; needed where the tokenizer doesn't say.

        Raises:
            VocabularyError: The tokenizer's tokens have no bytes that can be told, or the end of
                the text is not known.
        """

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        *,
        width: int | None = None,
        eos_token_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a `tiktoken.Encoding`.

        Args:
            encoding: Such as `tiktoken.get_encoding("o200k_base")` gives.
            width: As for `Vocabulary`.
            eos_token_ids: As for `Vocabulary`; default: the token `<|endoftext|>`.

        Raises:
            VocabularyError: The end of the text is not known.
        """

    @classmethod
    def from_mistral(
        cls,
        tokenizer: Any,
        *,
        width: int | None = None,
        eos_token_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a tokenizer of `mistral_common`, Tekken or SentencePiece.

        Args:
            tokenizer: A `MistralTokenizer` or the tokenizer inside it.
            width: As for `Vocabulary`.
            eos_token_ids: As for `Vocabulary`; default: what the tokenizer says.
        """

    @classmethod
    def from_llama_cpp(
        cls,
        model: Any,
        *,
        width: int | None = None,
        eos_token_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of a model that llama-cpp-python has loaded.

        Args:
            model: A `llama_cpp.Llama`; `vocab_only=True` is enough.
            width: As for `Vocabulary`.
            eos_token_ids: As for `Vocabulary`; default: the model's end-of-generation tokens.
        """

    @classmethod
    def from_gguf(
        cls,
        path: str | PathLike[str],
        *,
        width: int | None = None,
        eos_token_ids: int | Iterable[int] | None = None,
    ) -> Vocabulary:
        """The vocabulary inside a GGUF file. The model's weights are not read.

        Args:
            path: The file.
            width: As for `Vocabulary`.
            eos_token_ids: As for `Vocabulary`; default: what the file says.
        """

    def __len__(self) -> int:
        """The number of tokens, without the padding that `width` may add."""

    @property
    def width(self) -> int:
        """The number of ids that a mask covers: the model's number of logits."""

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """The ids that end the text."""

    @property
    def special_token_ids(self) -> tuple[int, ...]:
        """The ids that are never text, in order; those that end the text are among them."""

    @property
    def memory_bytes(self) -> int:
        """The memory of the tokens and of what all their grammars share, in bytes."""

    @property
    def cache_limit(self) -> int:
        """The most memory of what all its grammars share, in bytes: 24 MiB, if it is not set.

        When it is full, what no grammar has used for long goes. Setting it raises `ValueError`
        for a negative number.
        """

    @cache_limit.setter
    def cache_limit(self, limit: SupportsIndex) -> None: ...
    @property
    def encode(self) -> Callable[[bytes], Sequence[int] | None] | None:
        """The tokenizer's own `bytes → ids`, if the vocabulary was given one."""

    def token_bytes(self, token_id: SupportsIndex) -> bytes:
        """The bytes of a token; for a special token its name.

        Raises:
            IndexError: There is no such token.
        """

    def _fingerprint(self) -> int: ...
    def _starts_of_longer_tokens(self, text: bytes) -> list[int]: ...
    def __copy__(self) -> Vocabulary: ...
    def __deepcopy__(self, memo: dict[Any, Any], /) -> Vocabulary: ...

@final
class Grammar:
    """A set of texts, ready for any vocabulary. It never changes.

    Matchers of the same grammar and vocabulary share what they learn, so keep a grammar that
    comes again. `str(grammar)` shows the rules as the engine understood them. Pickling keeps the
    source and compiles it again.
    """

    @classmethod
    def from_regex(cls, pattern: str) -> Grammar:
        r"""The texts that match a regular expression as a whole.

        The syntax is that of Rust's `regex` crate, which is Python's without lookaround and
        backreferences; the pattern is anchored at both ends.

        Args:
            pattern: Such as `r"[0-9]{4}-[0-9]{2}"`.

        Raises:
            GrammarError: The pattern is malformed or holds what can't be enforced.
            LimitError: The pattern is too large.
        """

    @classmethod
    def from_gbnf(cls, text: str, root: str = "root") -> Grammar:
        """The texts of a grammar in llama.cpp's GBNF.

        Args:
            text: The grammar.
            root: The rule to start with.

        Raises:
            GrammarError: The grammar is malformed or holds what can't be enforced.
            LimitError: The grammar is too large.
        """

    @classmethod
    def from_lark(cls, text: str, start: str = "start") -> Grammar:
        """The texts of a grammar in Lark's language.

        A terminal may end wherever it matches, as with Lark's `lexer="dynamic_complete"`.
        `%import common.NUMBER` and its kin read the files of the installed lark package.

        Args:
            text: The grammar.
            start: The rule to start with.

        Raises:
            GrammarError: The grammar is malformed or holds what can't be enforced.
            LimitError: The grammar is too large.
        """

    @classmethod
    def from_json_schema(
        cls,
        schema: Any,
        *,
        whitespace: Literal["flexible", "compact", "any"] = "flexible",
        separators: tuple[str, str] | None = None,
        indent: SupportsIndex | None = None,
        property_order: Literal["schema", "any"] = "schema",
        additional_properties: bool = True,
        escapes: Literal["minimal", "all"] = "minimal",
        max_number_digits: SupportsIndex | None = 40,
        integer_fractions: bool = True,
        formats: bool = True,
        unsupported: Literal["reject", "ignore"] = "reject",
        resources: Mapping[str, Any] | None = None,
        limits: Mapping[str, SupportsIndex] | None = None,
    ) -> Grammar:
        r"""The JSON texts of the values that are valid under a JSON Schema (draft 2020-12).

        Exactly those, narrowed by nothing but the options below. A keyword that can't be
        enforced is refused, one that says nothing about what is valid (`title`, an unknown one)
        has no effect; `schema_report` tells which is which.

        Args:
            schema: The schema as JSON text, dict (any mapping) or bool; or a type: a pydantic
                model, a dataclass, a TypedDict, an Enum, any annotation such as `list[int]`, or
                a `pydantic.TypeAdapter`. A type needs pydantic, and gives the schema of what
                pydantic takes for it.
            whitespace: `"flexible"` (default): up to 64 characters of white space after `{`,
                `[`, `,`, `:` and before `}`, `]`, so that any usual style can be written, but
                not white space without end. `"compact"`: none. `"any"`: any amount wherever
                JSON allows it, around the whole value too.
            separators: What stands between items and behind names, as for `json.dumps`, and no
                other white space: `(", ", ": ")` is how Python writes JSON. Default: None,
                `whitespace` counts. Not together with `whitespace`.
            indent: Each item and member on a line of its own, indented by this many blanks a
                level (0 to 64), as `json.dumps` writes it; `separators` are then `(",", ": ")`
                unless given. Default: None. Not together with `whitespace`.
            property_order: `"schema"` (default): properties come as `properties` lists them,
                then those only `required` names, then all others. It is what keeps masks of
                objects small and fast, and what models do anyway. `"any"`: any order.
            additional_properties: What `additionalProperties` is in objects that name
                `properties` (not only in a condition: below `not`, or in an `if`), don't say,
                and that no `unevaluatedProperties` concerns. Default: True, as in JSON Schema;
                False keeps a model from inventing properties, and lets names through that
                only `required` or its like ask for.
            escapes: `"minimal"` (default): a character is written as itself where JSON allows
                that, or by its short escape (`\n`, `\"`, `\/`), control characters without
                one as `\u00XX`. `"all"`: also `\uXXXX` for any character.
            max_number_digits: How many digits the integer part of a number may have, and how
                many its fraction, so that no number goes on without end. A bound of the schema
                that has more digits counts instead. Default: 40; None: any number of them.
            integer_fractions: Whether an integer may be written `1.0` or `1e2`, which JSON
                Schema takes for integers. Default: True; False: digits alone.
            formats: Whether `format` constrains strings. Default: True; False makes it an
                annotation, as JSON Schema's own default has it.
            unsupported: `"reject"` (default): a keyword that can't be enforced is an error.
                `"ignore"`: it is left out, and listed in `ignored_keywords`.
            resources: Other schemas that `$ref` may lead to, by their absolute URIs; values as
                for `schema`. Default: none. Nothing is ever fetched.
            limits: How much the schema may ask for, by the names that docs/json-schema.md
                lists; those not named are as usual. Past a limit there is a `LimitError` that
                tells its name and value. With the usual ones no schema takes much longer than a
                second; a schema from a trusted source may be given more.

        Raises:
            GrammarError: The schema is malformed, has a keyword that can't be enforced, or no
                value at all is valid; `pointer` says where.
            LimitError: The schema is past one of the `limits`; `pointer` says where.
            TypeError: `schema` or an option is of another type; a dict holds what JSON has not;
                pydantic has no schema for a type.
            ValueError: An option has a value that there is not, or contradicts another.
            ImportError: A type, and pydantic is not installed.
        """

    @staticmethod
    def schema_report(
        schema: Any,
        *,
        whitespace: Literal["flexible", "compact", "any"] = "flexible",
        separators: tuple[str, str] | None = None,
        indent: SupportsIndex | None = None,
        property_order: Literal["schema", "any"] = "schema",
        additional_properties: bool = True,
        escapes: Literal["minimal", "all"] = "minimal",
        max_number_digits: SupportsIndex | None = 40,
        integer_fractions: bool = True,
        formats: bool = True,
        unsupported: Literal["reject", "ignore"] = "reject",
        resources: Mapping[str, Any] | None = None,
        limits: Mapping[str, SupportsIndex] | None = None,
    ) -> SchemaReport:
        """What becomes of each keyword of a JSON Schema, without making the grammar.

        Args:
            schema: As for `from_json_schema`, and so are the options.
            whitespace: No difference here, and so with those that follow, unless they say.
            separators: No difference.
            indent: No difference.
            property_order: No difference.
            additional_properties: No difference.
            escapes: No difference.
            max_number_digits: No difference.
            integer_fractions: No difference.
            formats: False: `format` is an annotation.
            unsupported: Whether what can't be enforced is called refused or ignored.
            resources: Schemas that `$ref` may lead to.
            limits: How much the schema may ask for.

        Returns:
            An iterable of `(pointer, keyword, status, reason)`, with a list for each status:
            `enforced`, `annotations`, `refused`, `ignored`. As a str it is a table.

        Raises:
            GrammarError: The schema is malformed, so that its keywords can't be told.
            LimitError: The schema is past one of the `limits`.
        """

    @property
    def kind(self) -> Literal["regex", "gbnf", "lark", "json_schema"]:
        """The language of the source."""

    @property
    def source(self) -> str:
        """The text that the grammar was made from; for JSON Schema the schema's JSON text."""

    @property
    def info(self) -> GrammarInfo:
        """What makes it the grammar it is: `kind`, `options`, `engine_version` and a `digest`.

        The digest is the key to keep it by: the same source and options give the same one.
        """

    @property
    def ignored_keywords(self) -> list[IgnoredKeyword]:
        """What a schema asks for and the grammar does not enforce, each once.

        A new list of `(pointer, keyword, reason)`. Empty unless the grammar was made with
        `unsupported="ignore"`.
        """

    @property
    def memory_bytes(self) -> int:
        """The memory of the compiled grammar and of what its matchers have learnt, in bytes.

        It grows with use up to a limit for each vocabulary (`cache_limit`).
        """

    @property
    def cache_limit(self) -> int:
        """The most memory of what matchers learn with one vocabulary, in bytes: 64 MiB, if not set.

        Past it, masks that nobody asked for again go first. A text so long that it fills the
        cache by itself raises it. Setting it raises `ValueError` for a negative number.
        """

    @cache_limit.setter
    def cache_limit(self, limit: SupportsIndex) -> None: ...
    def __copy__(self) -> Grammar: ...
    def __deepcopy__(self, memo: dict[Any, Any], /) -> Grammar: ...

@final
class Matcher:
    """One generation: which tokens may come next, given those that came.

    A refused call leaves the matcher as it was. `copy.copy(matcher)` is `matcher.fork()`.

    Args:
        grammar: What the text must match.
        vocabulary: The model's tokens.

    Raises:
        GrammarError: The grammar names a token that the vocabulary does not have.
    """

    def __new__(cls, grammar: Grammar, vocabulary: Vocabulary) -> Matcher: ...
    @property
    def grammar(self) -> Grammar:
        """The grammar it was made with."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary it was made with."""

    @property
    def memory_bytes(self) -> int:
        """The memory of this matcher alone, in bytes: it keeps what was accepted.

        What matchers learn is their grammar's, and counted there.
        """

    def next_mask(self) -> npt.NDArray[np.int32]:
        """The tokens that may come next.

        A token is allowed if and only if the text so far and the token together begin some text
        of the grammar; the tokens that end the text, if and only if the text so far is one. A
        finished matcher allows nothing.

        Returns:
            A new int32 array of shape `(ceil(vocabulary.width / 32),)`: token id i is allowed
            where bit i % 32 of word i // 32 is 1.
        """

    def fill_mask(self, out: Buffer | Any, row: SupportsIndex = 0) -> None:
        """Writes what `next_mask()` gives into a caller's array, all words of it.

        Args:
            out: A writable, C-contiguous buffer of int32 or uint32, such as
                `allocate_masks(batch, vocabulary)` gives: of shape `(words,)` or
                `(batch, words)`, words being `ceil(vocabulary.width / 32)`. A torch tensor in
                CPU memory will do.
            row: Which row of the batch, from 0.

        Raises:
            TypeError: `out` has no buffer, or not of 32-bit integers.
            ValueError: `out` has another shape, is read-only or not contiguous.
            IndexError: There is no such row.
        """

    def allowed_tokens(self) -> npt.NDArray[np.int64]:
        """The ids of the tokens that may come next, in order: `next_mask()` as a list.

        Returns:
            A new int64 array of shape `(n,)`.
        """

    def accept(self, token_id: SupportsIndex) -> None:
        """Goes on by a token that was sampled.

        Args:
            token_id: Any integer type, numpy's too.

        Raises:
            MatchError: The token is not allowed here; the text says what is.
            TypeError: Not an integer; bool and float are none.
        """

    def try_accept(self, token_id: SupportsIndex) -> bool:
        """Like `accept`, but says False where that raises `MatchError`."""

    def accept_bytes(self, text: bytes) -> None:
        """Goes on by bytes that came without tokens, as one step.

        Args:
            text: May end inside a character.

        Raises:
            MatchError: The bytes are not allowed here, not all of them.
        """

    def accepted(self) -> list[int | bytes]:
        """The steps so far: the ids of accepted tokens, and bytes for `accept_bytes`."""

    def validate(self, token_ids: Iterable[SupportsIndex]) -> int:
        """How many of these tokens could be accepted, from the first on. Accepts none.

        For speculative decoding: the length of the draft's longest allowed prefix.
        """

    def rollback(self, steps: SupportsIndex = 1) -> None:
        """Takes back the last steps: accepted tokens and calls of `accept_bytes`.

        Raises:
            MatchError: There are not that many.
            ValueError: `steps` is negative.
        """

    def reset(self) -> None:
        """Goes back to the start."""

    def fork(self) -> Matcher:
        """A second matcher in the same state, for beams and drafts. Cheap."""

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a text of the grammar, so that it may end here."""

    @property
    def is_finished(self) -> bool:
        """Whether a token that ends the text was accepted."""

    def forced_bytes(self) -> bytes:
        """The bytes that must come next whatever is sampled: the longest such text.

        Empty where there is a choice, ending the text being one.
        """

    def forced_tokens(self) -> list[int]:
        """The tokens that the model's own tokenizer would give the forced bytes.

        Only those that no later text could change, so that accepting them without sampling
        leaves the output as the model would write it. Needs the vocabulary's `encode`.

        Returns:
            Token ids, to be accepted one by one. Empty where they can't be known: nothing is
            forced, there is no `encode`, or the tokens so far are not the tokenizer's own.
        """

    def expected(self) -> list[str]:
        """What may come next, readable: the grammar's terminals, for messages."""

    def explain(self, token_id: SupportsIndex) -> str:
        """Why a token is allowed here or not, in a sentence."""

    def __copy__(self) -> Matcher: ...
    def __deepcopy__(self, memo: dict[Any, Any], /) -> Matcher: ...

@final
class SamplerInterface:
    """The functions of a native `llama_sampler`, for one llama.cpp. `earmark.llama_cpp` uses it.

    Args:
        layout: The bytes of the library's `llama_sampler_i` as `size`; the offsets of its
            functions `name`, `accept`, `apply`, `reset`, `clone` and `free`; the address of its
            `llama_sampler_init` as `init`. They are believed.

    Raises:
        ValueError: An offset is not that of a pointer inside the structure, or one comes twice.
    """

    def __new__(cls, layout: Mapping[str, int]) -> SamplerInterface: ...
    def sampler(self, matcher: Matcher) -> NativeSampler:
        """A new `llama_sampler` that starts where a matcher is, and leaves that as it is.

        Raises:
            MemoryError: llama.cpp gave none.
        """

    def find(self, address: int, like: NativeSampler) -> NativeSampler | None:
        """The handle of a sampler that llama.cpp cloned.

        Args:
            address: Of a live `llama_sampler`; it is believed.
            like: What it was cloned from.

        Returns:
            None if it is not one of this interface's samplers.
        """

@final
class NativeSampler:
    """Python's hold on a native `llama_sampler`, which llama.cpp owns and runs without Python.

    Before each sample it drops the candidates that its matcher doesn't allow, and keeps the order
    of the others and their logits; once the text has ended, all but the tokens that end it. Where
    no more than a quarter is forbidden, those stay with a logit of minus infinity, which is faster.
    The handle may outlive the sampler.
    """

    @property
    def address(self) -> int:
        """Where the `llama_sampler` is; for `llama_sampler_chain_add` or `llama_sampler_free`."""

    def matcher(self) -> Matcher:
        """A matcher in the state that the sampler is in."""

    def check(self) -> None:
        """Raises the first error of llama.cpp's calls since the last check.

        A refused call has changed nothing. Where no candidate could be kept, all were.

        Raises:
            MatchError: A token was accepted that is not allowed, or no candidate was.
        """

def llama_vocab_table(
    vocab: int, count: int, functions: Mapping[str, int]
) -> tuple[list[bytes], list[int], list[int]]:
    """The tokens of a `llama_vocab`, read by llama.cpp's own functions.

    Args:
        vocab: The address of a live `llama_vocab`; it is believed, as are the others.
        count: How many tokens it has.
        functions: The addresses of `llama_vocab_get_text` as `text`, of `llama_vocab_get_attr` as
            `attributes`, of `llama_vocab_is_eog` as `is_end`.

    Returns:
        The tokens' texts and attributes (0 where llama.cpp only makes up a name for a token
        without text), and the ids of those that end a generation.

    Raises:
        ValueError: An address is 0.
    """

def fill_masks(
    matchers: Iterable[Matcher],
    out: Buffer | Any,
    *,
    rows: Iterable[SupportsIndex] | None = None,
    threads: SupportsIndex | None = None,
) -> None:
    """Writes the masks of a batch: `matcher.fill_mask(out, row)` of each, in one call.

    Other Python threads run meanwhile. No threads are left when it returns, so a process may fork
    between calls.

    Args:
        matchers: Of any grammars, none twice; finished ones allow nothing. Their vocabularies
            have the same number of words a mask.
        out: As for `Matcher.fill_mask`; of shape `(batch, words)`.
        rows: Which row of `out` is whose, from 0, none twice. Default: the first matcher's is
            row 0, and so on. Other rows stay as they are.
        threads: The most threads that work on it, the caller's among them. Default: one for each
            32 matchers, but no more than the process has cores.

    Raises:
        TypeError: Not matchers, or `out` has no buffer, or not of 32-bit integers.
        ValueError: A matcher or a row comes twice, `out` has another shape, is read-only or not
            contiguous, vocabularies differ in their words, `threads` is less than 1.
        IndexError: There is no such row.
    """

def accept_all(
    matchers: Iterable[Matcher],
    token_ids: Iterable[SupportsIndex],
    *,
    threads: SupportsIndex | None = None,
) -> npt.NDArray[np.bool_]:
    """Goes on by the tokens that were sampled for a batch, one for each matcher, in one call.

    What one matcher refuses keeps none of the others back: a server drops that sequence and goes
    on with the rest. The refused matcher is as it was; `matcher.explain(token)` says why.

    Args:
        matchers: Of any grammars and vocabularies, none twice.
        token_ids: As many; a list, a numpy array or a torch tensor of shape `(n,)`.
        threads: As for `fill_masks`.

    Returns:
        A new bool array of shape `(n,)`: what `matcher.try_accept(token)` of each says. False
        where the token is not allowed, there is no such token, or the matcher has finished.

    Raises:
        TypeError: Not matchers, or token ids that are no integers. Nothing was accepted.
        ValueError: A matcher comes twice, there are more or fewer token ids than matchers,
            `threads` is less than 1. Nothing was accepted.
    """

def decode_pieces(pieces: Sequence[str | bytes | None], kind: str) -> list[bytes | None]:
    """What the pieces of a tokenizer's vocabulary file stand for. For the adapters.

    Args:
        pieces: How the file writes the tokens, as text or as its UTF-8; None where it has no
            token.
        kind: `"byte_level"`: GPT-2's alphabet; `"sentencepiece"`: UTF-8 with `▁` for the space
            and `<0xNN>` for bytes; `"metaspace"`: only `▁`; `"raw"`: UTF-8.

    Returns:
        The bytes of each token: `b""` for None; None where the encoding can't have written it.

    Raises:
        VocabularyError: There is no such kind, or bytes are no UTF-8.
    """
