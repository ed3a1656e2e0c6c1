"""Every HTML page of the package is rendered here, from a template in `report/templates`."""

from typing import Any


def render(template: str, **values: Any) -> str:
    """The text of a page: values are escaped, and one that the template misses is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to import

    environment = Environment(
        loader=PackageLoader("prssm.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
