"""Sections of pages that are written by commands: each stands between two marker comments."""

_PARTS = ("training", "choice", "band", "likelihood", "nominal")  # of the generalisation study
_SECTIONS = (
    *("scaling", "robots", "arm", "kinds", "true-function", "peers", "fit-time"),
    *(f"generalisation-{part}" for part in _PARTS),
    *("linear-bands", "linear-level-bands", "network-bands", "few-rows"),
    *("last-check", "linear-averages", "linear-orders", "prediction-error", "subspace"),
    *("paper-restarts", "network-states", "plants"),
    # written by hand beside the tables of commands, which leave it as it is
    "remarks",
)
MARKERS = {
    **{name: (f"<!-- {name}: begin -->", f"<!-- {name}: end -->") for name in _SECTIONS},
    "time-to-accuracy": ("<!-- time-to-accuracy:begin -->", "<!-- time-to-accuracy:end -->"),
    "gpu": ("<!-- gpu:begin -->", "<!-- gpu:end -->"),
}


def section(page: str, name: str) -> str:
    """The section with its markers, or nothing where the page has none."""
    begin, end = MARKERS[name]
    if begin not in page or end not in page:
        return ""
    return begin + page.partition(begin)[2].partition(end)[0] + end + "\n"


def with_section(page: str, name: str, text: str) -> str:
    """The page with this section new: in its old place, or at the end."""
    begin, end = MARKERS[name]
    new = f"{begin}\n{text.strip()}\n{end}\n"
    old = section(page, name)
    return page.replace(old.rstrip("\n"), new.rstrip("\n")) if old else f"{page.rstrip()}\n\n{new}"
