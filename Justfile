# The few commands of this project; `just` lists them.

default:
    @just --list

# Rebuild the extension module in place, optimised.
build:
    maturin develop --release

# Rust and Python tests.
test: build
    cargo test --no-default-features
    pytest

# Everything that must be clean.
lint:
    cargo fmt --check
    cargo clippy --no-default-features --all-targets -- -D warnings
    cargo clippy --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" cargo doc --no-default-features --no-deps --document-private-items
    ruff check .
    ruff format --check .
    mypy --strict python
    python -m mypy.stubtest earmark._earmark --mypy-config-file pyproject.toml

# Format the code.
fix:
    cargo fmt
    ruff check --fix .
    ruff format .

# What continuous integration runs: a fresh environment, README's commands, lint, tests.
ci:
    .ci/run

# The slow tier: larger random tests, counts checked by trying every token.
slow:
    .ci/slow
