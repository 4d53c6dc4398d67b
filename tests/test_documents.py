"""Python blocks of the documents run, and print what the document says they print."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:```text\n(?P<output>.*?)```)?", re.DOTALL)
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]


def blocks(name):
    return list(BLOCK.finditer((ROOT / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_blocks_run_and_print_what_is_shown(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    state = torch.get_rng_state()  # a reader's own torch layers draw from the global state
    for block in blocks(name):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], name, "exec"), namespace)
        if block["output"] is not None:
            assert printed.getvalue().rstrip() == block["output"].rstrip()
    torch.set_rng_state(state)


def test_readme_has_a_block_with_its_output():
    assert any(block["output"] for block in blocks("README.md"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_linked_files_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (ROOT / target).exists(), f"{name} links to {target}, which is not there"


def test_ci_script_is_executable():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
