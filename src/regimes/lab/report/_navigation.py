"""What stands beside every page: themes, studies, the figures of this page, claims."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from regimes.lab.report._places import Places, run_anchor
from regimes.lab.report._run import size_text
from regimes.lab.report._section import Section, by_theme

# Before the first paint: folded away on a phone, open beside the page elsewhere.
_FOLD = "<script>document.getElementById('menu').open = innerWidth >= 1100</script>"


def navigation(
    studies: Mapping[str, list[Section]], places: Places, *, here: str = "", claims: bool = True
) -> str:
    """Links to everything, with the figures of the study that is shown."""
    themes = "".join(
        f"<li><details{' open' if not here or here in names else ''}>"
        f"<summary>{escape(theme)}</summary>"
        f"<ul>{''.join(_study(name, studies[name], places, name == here) for name in names)}</ul>"
        "</details></li>"
        for theme, names in by_theme(studies).items()
    )
    ledger = f"<li><a href='{places.ledger}'>Every claim</a></li>" if claims else ""
    return (
        "<nav aria-label='Contents'><details id='menu' open><summary>"
        f"<b>regimes</b> {escape(here)}</summary><ul><li><a href='{places.home}'>Overview</a></li>"
        f"{themes}{ledger}</ul></details>{_FOLD}</nav>"
    )


def _study(name: str, runs: list[Section], places: Places, shown: bool) -> str:
    what = escape(name.partition("/")[2])
    link = f"<a href='{escape(places.study(name))}'{' class=here' if shown else ''}>{what}</a>"
    return f"<li>{link}{_figures(runs) if shown else ''}</li>"


def _figures(runs: list[Section]) -> str:
    items = []
    for part in runs:
        place = run_anchor(part.summary)
        if len(runs) > 1:
            items.append(f"<li><a href='#{place}'>{escape(size_text(part.summary))}</a></li>")
        items += [
            f"<li class='figure'><a href='#{place}-{number}'>{escape(title)}</a></li>"
            for number, title in enumerate(part.figures, start=1)
        ]
    return f"<ul>{''.join(items)}</ul>"
