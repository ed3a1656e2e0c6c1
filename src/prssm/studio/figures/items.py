"""Figures of the report as the page takes them: Bokeh's JSON, without any script in it.

Figures of a report carry small scripts (hide here what is hidden there). The page forbids scripts
that are no files of ours, so it does that by itself: it is told which renderers belong together.
"""

from typing import Any

from bokeh.embed import json_item
from bokeh.model import Model
from bokeh.models import CustomJS
from bokeh.models.layouts import LayoutDOM


def item(layout: LayoutDOM) -> dict[str, Any]:
    """The JSON of a figure, and pairs of renderers that are shown and hidden together."""
    linked = []
    for model in layout.references():
        linked += _taken_out(model)
    return {"figure": json_item(layout), "linked": linked}


def _taken_out(model: Model) -> list[tuple[str, str]]:
    """The scripts of a model, taken out of it: whose visibility follows its own."""
    pairs = []
    for callbacks in model.js_property_callbacks.values():
        for callback in callbacks:
            if isinstance(callback, CustomJS):
                pairs += [(model.id, other.id) for other in callback.args.values()]
    model.js_property_callbacks = {}
    return pairs
