"""The sample grammars with real tokenizers: their texts, tokenized, pass token by token."""

from __future__ import annotations

import tomllib

import earmark
import pytest
import shared

TEXTS = [
    (case["file"], text)
    for path in sorted((shared.GRAMMARS / "texts").glob("*.toml"))
    for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    for text in case["accept"]
]
FILES = sorted(path.name for path in shared.GRAMMARS.iterdir() if path.is_file())


def test_every_grammar_has_texts() -> None:
    assert {file for file, _ in TEXTS} == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_texts_pass_token_by_token(file: str, model: str) -> None:
    vocabulary = shared.vocabulary(model)
    tokenizer = shared.tokenizer(model)
    grammar = shared.load(file)
    for _, text in (item for item in TEXTS if item[0] == file):
        matcher = earmark.Matcher(grammar, vocabulary)
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        assert b"".join(vocabulary.token_bytes(token) for token in tokens) == text.encode()
        assert matcher.validate(tokens) == len(tokens), text
        for token in tokens:
            assert token in shared.allowed(matcher), (text, matcher.explain(token))
            matcher.accept(token)
        assert matcher.is_accepting, text
        assert set(shared.EOS[model]) <= shared.allowed(matcher)
        assert matcher.try_accept(shared.EOS[model][0])
        assert matcher.is_finished


@pytest.mark.parametrize("file", FILES)
def test_other_cuts_pass_too(file: str, model: str) -> None:
    vocabulary = shared.vocabulary(model)
    bytes_of = {vocabulary.token_bytes(i): i for i in range(len(vocabulary)) if i not in
                shared.token_bytes(model)[1]}
    grammar = shared.load(file)
    for _, text in (item for item in TEXTS if item[0] == file):
        matcher = earmark.Matcher(grammar, vocabulary)
        data = text.encode()[:200]
        for byte in data:
            token = bytes_of.get(bytes([byte]))
            if token is None:
                matcher.accept_bytes(bytes([byte]))
            else:
                assert token in shared.allowed(matcher), (text, matcher.explain(token))
                matcher.accept(token)
