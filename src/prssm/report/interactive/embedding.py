"""Explorable figures as parts of an HTML page: one script for all, and a place for each.

    parts = embedded({"run": free_runs(...), "inputs": inputs(...)})
    parts.library       # Bokeh's script, once a page: nothing is loaded from a network
    parts.places["run"] # where the figure appears
    parts.script        # the figures' data, after all places

All figures of one call belong together: those that share a time axis move together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bokeh.document import Document
from bokeh.embed import components
from bokeh.models.layouts import LayoutDOM
from bokeh.resources import Resources


@dataclass(frozen=True)
class Embedded:
    """HTML that is safe to put into a page: names in figures are escaped by Bokeh."""

    library: str
    places: Mapping[str, str]
    script: str

    def __len__(self) -> int:
        """Its size in characters."""
        return len(self.library) + len(self.script) + sum(map(len, self.places.values()))


def embedded(figures: Mapping[str, LayoutDOM]) -> Embedded:
    """The figures by name, as text."""
    if not figures:
        return Embedded("", {}, "")
    document = Document()
    with document.models.freeze():  # all at once: else every figure is searched for models again
        for figure in figures.values():
            document.add_root(figure)
    script, places = components(dict(figures))
    # of Bokeh's five scripts only this one: no widgets, no tables, no formulas
    library = Resources(mode="inline", components=["bokeh"], log_level="error").render_js()
    return Embedded(library, places, script)
