"""`import earmark` is quick and takes nothing along that it may not need."""

import subprocess
import sys

import pytest

SECONDS = 0.1


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_import_takes_less_than_a_tenth_of_a_second() -> None:
    code = "import time; t = time.process_time(); import earmark; print(time.process_time() - t)"
    # The best of three: the first one reads the files from the disk.
    assert min(float(run(code)) for _ in range(3)) < SECONDS


def test_import_is_lazy() -> None:
    loaded = run("import earmark, sys; print(*sys.modules)").split()
    absent = {"numpy", "torch", "transformers", "llama_cpp", "lark", "tokenizers", "argparse"}
    assert not absent & set(loaded)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("None", "pip install 'transformers>=5' torch"),
        ("SimpleNamespace(LogitsProcessor=object, __version__='4.57.1')", "not 4.57.1"),
    ],
)
def test_what_is_missing_is_named(module: str, message: str) -> None:
    code = "import sys; from types import SimpleNamespace\n"
    code += f"sys.modules['transformers'] = {module}\n"
    code += "try:\n import earmark.transformers\nexcept ImportError as error: print(error)"
    assert message in run(code)


NO_LLAMA_CPP = """
import sys
from types import ModuleType
{prepare}
try:
    import earmark.llama_cpp
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_llama_cpp_that_is_missing_or_too_old() -> None:
    missing = run(NO_LLAMA_CPP.format(prepare="sys.modules['llama_cpp'] = None"))
    assert missing.startswith("UnsupportedLlamaCppError ")
    assert "needs llama-cpp-python" in missing
    assert "pip install 'llama-cpp-python>=0.3.7'" in missing
    old = """
for name in ("llama_cpp", "llama_cpp.llama_grammar"):
    sys.modules[name] = ModuleType(name)
sys.modules["llama_cpp"].__version__ = "0.1.2"
"""
    said = run(NO_LLAMA_CPP.format(prepare=old))
    assert "llama-cpp-python 0.1.2 has no llama_cpp.llama_grammar.LlamaGrammar" in said


def test_everything_public_is_there() -> None:
    import earmark

    assert all(getattr(earmark, name) is not None for name in earmark.__all__)
    assert earmark.Matcher.__module__ == "earmark"
