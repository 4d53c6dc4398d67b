"""Python blocks of the documents run, and print what is shown; their commands and links exist."""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import tomllib
import warnings
from pathlib import Path

import click
import pytest
import torch
import typer

from regimes.cli import app
from regimes.lab import Verdict, _registry, ledger, stored_summaries, verdicts

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:```text\n(?P<output>.*?)```)?", re.DOTALL)
NEEDS = re.compile(r"# needs the package (?P<package>\w+)")  # in the first line of a block
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PAGES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *PAGES]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def having(pattern):
    return [name for name in DOCUMENTS if pattern.search(read(name))]


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """Where and as whom a reader works; a reader's own torch layers draw from the global state."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGIMES_RESULTS", raising=False)
    monkeypatch.delenv("REGIMES_STORE", raising=False)
    state = torch.get_rng_state()
    yield {"__name__": "__main__"}
    torch.set_rng_state(state)
    for study in [each for each in _registry._registered.values() if each.module == "__main__"]:
        del _registry._registered[study.name]


@pytest.mark.parametrize("name", having(BLOCK))
def test_blocks_run_and_print_what_is_shown(name, reader):
    absent = set()
    for block in BLOCK.finditer(read(name)):
        needed = NEEDS.match(block["code"])
        if needed and importlib.util.find_spec(needed["package"]) is None:
            absent.add(needed["package"])
            continue
        printed = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(printed))
            if needed:  # others' packages warn of much
                stack.enter_context(warnings.catch_warnings(action="ignore"))
            exec(compile(block["code"], name, "exec"), reader)
        if block["output"] is not None:
            assert printed.getvalue().rstrip() == block["output"].rstrip()
    if absent:
        pytest.skip(f"all ran but the blocks that need {', '.join(sorted(absent))}")


@pytest.mark.parametrize("name", ["README.md", "docs/index.md", "docs/how-to/your-network.md"])
def test_first_pages_show_what_is_printed(name):
    assert any(block["output"] for block in BLOCK.finditer(read(name)))


@pytest.mark.parametrize("name", having(SHELL))
def test_commands_exist_with_their_options(name):
    for block in SHELL.findall(read(name)):
        words = block.replace("<this repository>", "URL")
        subprocess.run(["bash", "-n", "-c", words], check=True)
        for line in words.replace("\\\n", " ").splitlines():
            given = shlex.split(line, comments=True)
            if "regimes" in given and given[0] in ("regimes", "srun"):
                assert_understood(given[given.index("regimes") + 1 :])


def assert_understood(words):
    """Whether the command line would take these words; nothing is run."""
    command, context = typer.main.get_command(app), click.Context(click.Command("regimes"))
    while hasattr(command, "commands"):
        assert words, "a command is missing"
        assert words[0] in command.commands, f"no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    command.make_parser(context).parse_args(list(words))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_linked_files_exist(name):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(name)):
        if "://" not in target:
            there = (ROOT / name).parent / target
            assert there.exists(), f"{name} links to {target}, which is not there"


def test_every_page_is_in_the_manual():
    def pages(entry):
        if isinstance(entry, str):
            return [f"docs/{entry}"]
        values = entry.values() if isinstance(entry, dict) else entry
        return [page for value in values for page in pages(value)]

    nav = tomllib.loads(read("zensical.toml"))["project"]["nav"]
    assert sorted(pages(nav)) == sorted(PAGES)


def test_every_command_is_on_its_page():
    page = read("docs/reference/commands.md")
    for name in typer.main.get_command(app).commands:
        assert f"`regimes {name}" in page


def test_readme_counts_the_verdicts_as_the_records_do():
    told = re.search(
        r"Of the (\d+) claims of the documents (\d+) have a verdict\s+from a recorded run:\s+"
        r"(\d+) are reproduced,\s+(\d+) not reproduced,\s+(\d+) undecided,\s+(\d+) only\s+reported",
        read("README.md"),
    )
    records = stored_summaries(ROOT / "results", data=False)
    lines = [line.verdict for line in verdicts(records) if line.entry.id in ledger()]
    order = (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.REPORTED)
    counts = [lines.count(each) for each in order]
    assert [int(number) for number in told.groups()] == [len(ledger()), sum(counts), *counts]


def test_ci_script_is_executable():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
