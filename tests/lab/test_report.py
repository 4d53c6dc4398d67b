import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from regimes.lab import ledger, report_html, report_section, run


@pytest.fixture
def summary(toys, store):
    return run("toy/echo", "cpu", store=store)


class Page(HTMLParser):
    """Collects what a page refers to and checks that its tags are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.outside, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        for name in ("href", "src"):
            if name in given:
                (self.links if given[name].startswith("#") else self.outside).append(given[name])
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_outside(toys, summary):
    text = report_html([report_section(summary, toys.Echo)])
    page = Page(text)
    assert page.open == []
    assert page.outside == []
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert "@import" not in text
    assert "<link" not in text
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text
    assert "Plotly" in text


def test_every_claim_of_the_ledger_has_its_place(toys, summary):
    page = Page(report_html([report_section(summary, toys.Echo)]))
    assert set(ledger()) <= set(page.ids)
    assert {"TOY-1", "TOY-2"} <= set(page.ids)


def test_figures_captions_claims_parameters_and_environment_are_there(toys, summary):
    text = report_html([report_section(replace(summary, command="regimes run x"), toys.Echo)])
    for piece in (
        "Product &lt;b&gt;",
        "A &lt;/script&gt; caption.",
        "It is small",
        "✗ not reproduced",
        "0.5,1.0,2.0",
        summary.environment["versions"]["numpy"],
        "<pre>regimes run x</pre>",
        "9 trials",
    ):
        assert piece in text, piece
    # a text inside the figure's data cannot end the script element it is in
    data = re.search(r"<script type='application/json'[^>]*>(.*?)</script>", text).group(1)
    assert "<" not in data


def test_a_study_that_cannot_draw_is_reported_on_the_page(toys, summary):
    def broken(dataset):
        raise KeyError("missing")

    text = report_html([report_section(summary, replace(toys.Echo, figures=broken))])
    assert "could not be drawn: KeyError" in text
    assert "code was not found" in report_html([report_section(summary, None)])


def test_an_empty_page_is_light_and_lists_the_ledger():
    text = report_html([])
    assert len(text) < 400_000  # without figures no plotting library
    assert "Nothing has run yet" in text
    assert Page(text).open == []


def test_unfinished_and_flagged_runs_are_marked(toys, summary):
    text = report_html([report_section(replace(summary, finished=3, flagged=2), toys.Echo)])
    assert "<li class=warn>3 of 9 trials</li>" in text
    assert "<li class=warn>2 with NaN or infinity</li>" in text
