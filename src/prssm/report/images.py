"""A picture in a page: its content, words for those who cannot see it, and a caption."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from prssm.foundation.show.pictures import data_address


@dataclass(frozen=True)
class Image:
    """A picture in a page; `narrow` ones are not stretched over it."""

    source: str
    alternative: str
    caption: str = ""
    narrow: bool = False


def embed(figure: Figure, alternative: str, caption: str = "", narrow: bool = False) -> Image:
    """The figure as a data address."""
    return Image(data_address(figure), alternative, caption, narrow=narrow)
