"""Whether figures can be explored: that needs Bokeh, which is an extra."""

from importlib.util import find_spec

from prssm.foundation.errors import MissingExtraError

EXTRA = "pip install 'prssm[interactive]'"


def can_explore() -> bool:
    """Whether Bokeh is installed."""
    return find_spec("bokeh") is not None


def need_bokeh() -> None:
    """Says which extra is missing, if it is."""
    if not can_explore():
        raise MissingExtraError(f"figures to explore need Bokeh: {EXTRA}")
