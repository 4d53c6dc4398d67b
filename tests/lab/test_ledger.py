import json
from collections import Counter
from importlib import resources

from regimes.lab import ledger

CLAIMS = {
    "alignment": ("ALI", 38),
    "compression": ("COMP", 50),
    "deformations": ("DEF", 44),
    "equivariance": ("EQU", 56),
    "kernels": ("KER", 37),
    "landscape": ("LAND", 78),
    "linearization": ("LIN", 36),
    "pomdp": ("POM", 38),
    "regimes": ("REG", 75),
}


def test_every_claim_of_every_paper_is_listed_once_and_in_order():
    expected = [
        f"{prefix}-{number:02d}"
        for prefix, count in CLAIMS.values()
        for number in range(1, count + 1)
    ]
    assert list(ledger()) == expected
    assert Counter(entry.theme for entry in ledger().values()) == {
        theme: count for theme, (_, count) in CLAIMS.items()
    }


def test_entries_are_short_and_say_where_to_look():
    for entry in ledger().values():
        assert 8 < len(entry.statement) < 120, entry
        assert entry.where, entry


def test_the_file_holds_no_verdicts():
    text = resources.files("regimes.lab").joinpath("ledger.json").read_text(encoding="utf-8")
    keys = {key for entries in json.loads(text).values() for entry in entries for key in entry}
    assert keys == {"id", "statement", "where", "expected"}
