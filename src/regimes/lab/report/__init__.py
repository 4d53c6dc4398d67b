"""Pages of what has run: one for each study with an index, or a single file.

_section      one run with its figures
_places       where a study, a run or a claim stands, seen from a page
_figure       a plotly figure as text in the page
_thumbnail    a small picture of it that needs no script
_claims       tables of claims
_run          one run: figures first, then its claims, then the small print
_overview     what there is: studies, and the ledger at a glance
_navigation   themes, studies and claims beside every page
_pages        all of it put together
"""

from regimes.lab.report._pages import report_folder, report_html
from regimes.lab.report._section import Section, report_section

__all__ = ["Section", "report_folder", "report_html", "report_section"]
