"""Citations lead somewhere: keys to docs/sources.md, headings to the pages of the themes."""

import re
from pathlib import Path

import pytest

from regimes.lab import ledger

ROOT = Path(__file__).parents[1]
KEY = r"[a-zA-Z][\w'’-]+ \d{4}[a-z]?"  # as in Geiger 2020b
CITED = re.compile(rf"\[({KEY})(?:,[^\[\]]*)?\]")
ENTRY = re.compile(rf"^\*\*\[({KEY})\]\*\*", re.MULTILINE)
HEADING = re.compile(r'docs/themes/(\w+)\.md, "([^"]+)"')
# what no reader can look up: sections of lists that are not in the repository, bare tags of papers
UNKNOWN = re.compile(
    r"\b[Ss]pecs? `|\b[Ss]pec [a-z]+ S?\d|\(S(?!2\b)\d+\b|\b(?:of|in|by|from|#) S(?!2\b)\d+\b"
    r"|\bS(?!2\b)\d+\)|\b(?:FL|PD|INT) (?:eq|[Ff]ig|app|sec)"
)


def texts(*folders, ending="*.py"):
    """Name and text of every file, with comment marks and line breaks as single spaces."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob(ending)):
            if path != Path(__file__):
                text = re.sub(r"\s+(?:# )?", " ", path.read_text(encoding="utf-8"))
                yield path.relative_to(ROOT), text


def keys():
    return ENTRY.findall((ROOT / "docs" / "sources.md").read_text(encoding="utf-8"))


CODE = [*texts("src", "tests", "benchmarks", "examples")]
PAGES = [*texts("docs", ending="*.md"), *texts("src", ending="*.json")]


def test_a_key_has_one_entry():
    assert len(keys()) == len(set(keys())) > 20


def test_every_cited_key_has_an_entry_and_every_entry_is_cited():
    cited = {key: name for name, text in [*CODE, *PAGES] for key in CITED.findall(text)}
    unknown = {key: str(name) for key, name in cited.items() if key not in keys()}
    assert not unknown, f"not in docs/sources.md: {unknown}"
    in_code = {
        key
        for name, text in [*CODE, *texts("docs/themes", ending="*.md")]
        for key in CITED.findall(text)
    }
    in_ledger = {key for entry in ledger().values() for key in CITED.findall(entry.where)}
    idle = set(keys()) - in_code - in_ledger
    assert not idle, f"in docs/sources.md, but cited nowhere: {idle}"


def test_every_cited_heading_exists():
    cited = {(page, heading) for _, text in CODE for page, heading in HEADING.findall(text)}
    assert cited
    for page, heading in sorted(cited):
        text = (ROOT / "docs" / "themes" / f"{page}.md").read_text(encoding="utf-8")
        assert f"\n## {heading}\n" in text, f"no heading {heading!r} in docs/themes/{page}.md"


def test_nothing_is_cited_that_a_reader_cannot_open():
    found = [
        f"{name}: {hit[0]}" for name, text in [*CODE, *PAGES] for hit in UNKNOWN.finditer(text)
    ]
    assert not found, found


def test_every_claim_names_its_paper():
    for entry in ledger().values():
        assert CITED.findall(entry.where), f"{entry.id}: {entry.where}"


@pytest.mark.parametrize(
    "text",
    [
        "the loss (spec `regimes` S5)",
        "half heights (S14)",
        "FL eq. 3",
        "as in S5",
        "Spec compression 4.11",
    ],
)
def test_such_citations_are_found(text):
    assert UNKNOWN.search(text)
    assert not CITED.search(text)


def test_a_key_is_told_from_other_brackets():
    text = "[Geiger 2020b, eqs. 3 and 4], [d'Ascoli 2020], x[0], [1, 2], [COMP-11], [in 2020 runs]"
    assert CITED.findall(text) == ["Geiger 2020b", "d'Ascoli 2020"]
