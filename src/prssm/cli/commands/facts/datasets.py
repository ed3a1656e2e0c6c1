"""`prssm datasets`: the public sets and the simulators that can be named instead of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from prssm.data.sets.catalogue import DataSet


def datasets(
    name: Annotated[
        str | None, Parameter(help="A data set, to see its source, files and split.")
    ] = None,
) -> None:
    """List the data sets and simulators, or describe one of them.

    Files are looked for in the folder that the environment variable PRSSM_DATA names, else
    downloaded when first used.
    """
    from prssm.data.sets import catalogue
    from prssm.report.tables import Table, print_table

    if name is not None:
        print_table(Table(name, ["what", "value"], _details(catalogue.describe(name))))
        return
    described = [catalogue.describe(known) for known in catalogue.names()]
    rows = [[item.name, _presence(item), item.title, item.split, item.source] for item in described]
    print_table(Table("data sets", ["name", "here", "what", "split", "source"], rows))
    print(
        f"data folder: {catalogue.data_folder()} (PRSSM_DATA changes it); prssm datasets NAME "
        "tells more about one"
    )


def _presence(item: DataSet) -> str:
    from prssm.data.sets import catalogue

    if item.simulated:
        return "simulated"
    return "yes" if catalogue.available(item.name) else "no"


def _details(item: DataSet) -> list[list[str]]:
    rows = [
        ["what", item.title],
        ["source", item.source],
        ["split", item.split],
        ["here", _presence(item)],
        ["sampling time", "not given" if item.dt is None else f"{item.dt:g} s"],
    ]
    if item.unscored:
        rows.append(
            [
                "not scored",
                f"the first {item.unscored} samples of a test run, by the set's own protocol",
            ]
        )
    if item.lags:
        rows.append(["lags", f"{item.lags} (of NARX models in the paper)"])
    for file in item.files:
        rows += [
            ["file", file.path],
            ["", f"from {file.url or 'no public address known'}"],
            ["", f"sha256 {file.sha256 or 'not known'}"],
        ]
    return [*rows, ["note", item.note]] if item.note else rows
