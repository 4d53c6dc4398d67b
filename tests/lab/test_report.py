import posixpath
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from regimes.lab import ledger, report_folder, report_html, report_section, run, verdicts


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
    assert "Plotly.newPlot" in text


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


def test_a_folder_has_an_index_a_page_a_study_and_one_plotting_library(toys, store, summary):
    small = run("toy/echo", store=store)
    other = replace(summary, study="toy/other")
    parts = [report_section(item, toys.Echo) for item in (small, summary, other)]
    files = report_folder(parts)
    assert {name for name in files if name.endswith(".html")} == {
        "index.html",
        "claims.html",
        "toy/echo.html",
        "toy/other.html",
    }
    pages = {name: Page(text) for name, text in files.items() if name.endswith(".html")}
    for name, page in pages.items():
        assert page.open == []
        assert len(page.ids) == len(set(page.ids))
        for link in page.links + page.outside:  # every one leads to a file and a place in it
            path, _, place = link.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path or ""))
            target = there if path else name
            assert target in files, (name, link)
            assert not place or place in pages[target].ids, (name, link)
    assert sum("plotly.js v" in text for text in files.values()) == 1
    assert files["toy/echo.html"].count("plotly.min.js") == 1
    assert "plotly.min.js" not in files["index.html"]


def test_sizes_of_a_study_are_told_apart_and_the_larger_comes_first(toys, store, summary):
    parts = [report_section(item, toys.Echo) for item in (run("toy/echo", store=store), summary)]
    text = report_folder(parts)["toy/echo.html"]
    assert "<title>toy/echo (cpu, smoke) - regimes</title>" in text
    assert text.index("size cpu</span></h2>") < text.index("size smoke</span></h2>")


def test_figures_come_first_and_the_ledger_last(toys, summary):
    text = report_html([report_section(summary, toys.Echo)])
    places = [
        text.index(piece) for piece in ("<figure", "<h3>Claims", "id='glance'", "id='claims'")
    ]
    assert places == sorted(places)


def test_a_page_about_a_study_says_nothing_of_what_was_not_run(toys, summary):
    text = report_html([report_section(summary, toys.Echo)], [])
    assert "not run" not in text
    assert str(len(ledger())) not in text.partition("</header>")[0].partition("<header>")[2]
    assert not set(ledger()) & set(Page(text).ids)
    own = [line for line in verdicts([summary]) if line.entry.theme == "toy"]
    assert {"TOY-1", "TOY-2"} <= set(Page(report_html([], own)).ids)


def test_a_figure_keeps_its_height_free_before_it_is_drawn(toys, summary):
    assert "<div class='plot' style='height:420px'" in report_html(
        [report_section(summary, toys.Echo)]
    )
