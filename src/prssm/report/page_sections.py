"""Sections of pages that are written by commands: each stands between two marker comments."""

MARKERS = {
    "scaling": ("<!-- scaling: begin -->", "<!-- scaling: end -->"),
    "robots": ("<!-- robots: begin -->", "<!-- robots: end -->"),
    "arm": ("<!-- arm: begin -->", "<!-- arm: end -->"),
    "time-to-accuracy": ("<!-- time-to-accuracy:begin -->", "<!-- time-to-accuracy:end -->"),
    **{
        f"generalisation-{part}": (
            f"<!-- generalisation-{part}: begin -->",
            f"<!-- generalisation-{part}: end -->",
        )
        for part in ("training", "choice", "band", "likelihood", "nominal")
    },
    "linear-bands": ("<!-- linear-bands: begin -->", "<!-- linear-bands: end -->"),
    "linear-level-bands": (
        "<!-- linear-level-bands: begin -->",
        "<!-- linear-level-bands: end -->",
    ),
    "network-bands": ("<!-- network-bands: begin -->", "<!-- network-bands: end -->"),
    "kinds": ("<!-- kinds: begin -->", "<!-- kinds: end -->"),
    "true-function": ("<!-- true-function: begin -->", "<!-- true-function: end -->"),
    "gpu": ("<!-- gpu:begin -->", "<!-- gpu:end -->"),
    "peers": ("<!-- peers: begin -->", "<!-- peers: end -->"),
    "last-check": ("<!-- last-check: begin -->", "<!-- last-check: end -->"),
    "linear-averages": ("<!-- linear-averages: begin -->", "<!-- linear-averages: end -->"),
    "linear-orders": ("<!-- linear-orders: begin -->", "<!-- linear-orders: end -->"),
    "prediction-error": ("<!-- prediction-error: begin -->", "<!-- prediction-error: end -->"),
    "subspace": ("<!-- subspace: begin -->", "<!-- subspace: end -->"),
    "fit-time": ("<!-- fit-time: begin -->", "<!-- fit-time: end -->"),
    # Written by hand beside the tables of commands, which leave it as it is.
    "remarks": ("<!-- remarks: begin -->", "<!-- remarks: end -->"),
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
