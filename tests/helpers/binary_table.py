"""Files that other programs write (spreadsheets, MATLAB, data bases, archives), as in
`file_table`.
"""

import bz2
import gzip
import io
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import h5py
import numpy as np
import polars
import xlsxwriter
from file_table import NAN, PLAIN, U, Writer, Y, bad, good
from scipy.io import savemat

STAMPS = ["2024-05-31 12:00:00", "2024-05-31 12:00:01", "2024-05-31 12:00:02"]
FRAME = {"u": U, "y": Y}
MATRIX = np.array([U, Y]).T


def frame_with(**columns: Any) -> polars.DataFrame:
    return polars.DataFrame(FRAME | columns)


def dated() -> polars.DataFrame:
    return frame_with(t=STAMPS).with_columns(polars.col("t").str.to_datetime())


def zoned() -> polars.DataFrame:
    return dated().with_columns(polars.col("t").dt.replace_time_zone("Europe/Berlin"))


def parquet(frame: polars.DataFrame) -> Writer:
    return lambda path: frame.write_parquet(path)


def arrow(frame: polars.DataFrame) -> Writer:
    return lambda path: frame.write_ipc(path)


def sheet(rows: list[list[Any]], bad_first: bool = False) -> Writer:
    def write(path: Path) -> None:
        book = xlsxwriter.Workbook(str(path))
        page = book.add_worksheet()
        for i, row in enumerate(rows):
            page.write_row(i, 0, row)
        book.close()

    return write


ODS_TABLE = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2">
<office:body><office:spreadsheet><table:table table:name="log">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""


MANIFEST = """<?xml version="1.0" encoding="UTF-8"?>
<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"""


def ods(rows: list[list[Any]]) -> Writer:
    """The least that an OpenDocument spreadsheet needs."""

    def cell(value: Any) -> str:
        if isinstance(value, str):
            return (
                '<table:table-cell office:value-type="string"><text:p>'
                f"{value}</text:p></table:table-cell>"
            )
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    def write(path: Path) -> None:
        lines = ["".join(map(cell, row)) for row in rows]
        body = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("META-INF/manifest.xml", MANIFEST)
            archive.writestr("content.xml", ODS_TABLE.format(rows=body))

    return write


def mat(**variables: Any) -> Writer:
    return lambda path: savemat(path, variables)


def cells(*items: Any) -> np.ndarray:
    array = np.empty((1, len(items)), dtype=object)
    for i, item in enumerate(items):
        array[0, i] = item
    return array


def mat73(fill: Callable[[h5py.File], None]) -> Writer:
    def write(path: Path) -> None:
        with h5py.File(path, "w", userblock_size=512) as file:
            fill(file)

    return write


def struct73(file: h5py.File) -> None:
    group = file.create_group("z")
    group["InputData"] = np.array(U)[None]
    group["OutputData"] = np.array(Y)[None]
    group["Ts"] = np.array([[0.5]])


def cells73(file: h5py.File) -> None:
    for name, values in (("u", U), ("y", Y)):
        for i in range(2):
            file[f"#refs#/{name}{i}"] = np.array(values)[None]
        references = [[file[f"#refs#/{name}0"].ref], [file[f"#refs#/{name}1"].ref]]
        file.create_dataset(name, data=np.array(references, dtype=h5py.ref_dtype))


def hdf5(fill: Callable[[h5py.File], None]) -> Writer:
    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            fill(file)

    return write


def grouped(file: h5py.File) -> None:
    file["run/u"] = U
    file["run/y"] = Y


def compound(file: h5py.File) -> None:
    rows = list(zip(U, Y, strict=True))
    file["log"] = np.array(rows, dtype=[("u", "f8"), ("y", "f4")])


def sqlite(*tables: str) -> Writer:
    def write(path: Path) -> None:
        base = sqlite3.connect(path)
        for table in tables:
            base.execute(f"create table {table} (u real, y real)")
            base.executemany(f"insert into {table} values (?, ?)", zip(U, Y, strict=True))
        base.commit()
        base.close()

    return write


def duck(path: Path) -> None:
    with duckdb.connect(str(path)) as base:
        base.execute("create table log (u double, y double)")
        base.executemany("insert into log values (?, ?)", list(zip(U, Y, strict=True)))


def packed(name: str, *members: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for member, content in members:
            archive.writestr(member, content)
    return stream.getvalue()


IDDATA = {"InputData": cells(np.array([U]).T), "OutputData": cells(np.array([Y]).T), "Ts": 0.5}
TWO = {
    "InputData": cells(np.array([U]).T, np.array([U]).T),
    "OutputData": cells(np.array([Y]).T, np.array([Y]).T),
    "Ts": cells(0.5, 0.5),
}
ASK = {"inputs": "z.InputData", "outputs": "z.OutputData"}

BINARY = [
    good("parquet", parquet(frame_with()), "log.parquet"),
    good("parquet with dates", parquet(dated()), "log.parquet", how={"time": "t"}, dt=1.0),
    good("parquet with a zone", parquet(zoned()), "log.parquet", how={"time": "t"}, dt=1.0),
    good(
        "parquet, dates as text",
        parquet(frame_with(t=STAMPS)),
        "log.parquet",
        how={"time": "t"},
        dt=1.0,
    ),
    good(
        "parquet with nanoseconds",
        parquet(frame_with(t=[10**18, 10**18 + 50, 10**18 + 100])),
        "log.parquet",
        how={"time": "t"},
        dt=5e-8,
    ),
    good(
        "parquet with null",
        parquet(polars.DataFrame({"u": U, "y": [2, None, 6]})),
        "log.parquet",
        y=[2, NAN, 6],
    ),
    good(
        "parquet with switches",
        parquet(polars.DataFrame({"u": [True, False, True], "y": Y})),
        "log.parquet",
        u=[1, 0, 1],
    ),
    bad(
        "parquet with words",
        parquet(polars.DataFrame({"u": U, "y": ["a", "b", "c"]})),
        "column 'y', row 1: expected a number, got 'a'",
        file="log.parquet",
    ),
    good("feather", arrow(frame_with()), "log.feather"),
    good("arrow", arrow(dated()), "log.arrow", how={"time": "t"}, dt=1.0),
    bad(
        "arrow that is none", b"foreign " * 50, "cannot be read as an Arrow file", file="log.arrow"
    ),
    good("excel", sheet([["u", "y"], *MATRIX.tolist()]), "log.xlsx"),
    good("excel with units", sheet([["u", "y"], ["V", "bar"], *MATRIX.tolist()]), "log.xlsx"),
    good(
        "excel with a gap in y",
        sheet([["u", "y"], [1, 2], [3, None], [5, 6]]),
        "log.xlsx",
        y=[2, NAN, 6],
    ),
    good(
        "excel with n/a",
        sheet([["u", "y"], [1, 2], [3, "#N/A"], [5, 6]]),
        "log.xlsx",
        y=[2, NAN, 6],
    ),
    good(
        "excel with days",
        sheet(
            [
                ["t", "u", "y"],
                *[[45443.5 + i / 86400, a, b] for i, (a, b) in enumerate(MATRIX.tolist())],
            ]
        ),
        "log.xlsx",
        how={"time": "t"},
        dt=1.0,
    ),
    bad("excel that is none", b"foreign " * 50, "cannot be read as a spreadsheet", file="log.xlsx"),
    bad(
        "excel with a word",
        sheet([["u", "y"], [1, 2], [3, "four"], [5, 6]]),
        "column 'y', row 3: expected a number, got 'four'",
        file="log.xlsx",
    ),
    good("opendocument", ods([["u", "y"], *MATRIX.tolist()]), "log.ods"),
    good("matlab", mat(u=np.array([U]).T, y=np.array([Y]).T), "log.mat"),
    good("matlab rows", mat(u=np.array([U]), y=np.array([Y])), "log.mat"),
    good("matlab with Ts", mat(u=np.array([U]).T, y=np.array([Y]).T, Ts=0.1), "log.mat", dt=0.1),
    good(
        "matlab struct",
        mat(z={"u": np.array([U]).T, "y": np.array([Y]).T}),
        "log.mat",
        how={"inputs": "z.u", "outputs": "z.y"},
    ),
    good(
        "matlab struct in a struct",
        mat(s={"z": {"u": U, "y": Y}}),
        "log.mat",
        how={"inputs": "s.z.u", "outputs": "s.z.y"},
    ),
    good("iddata", mat(z=IDDATA), "log.mat", how=ASK, dt=0.5),
    good(
        "iddata of two experiments",
        mat(z=TWO),
        "log.mat",
        how=ASK,
        dt=0.5,
        u=U * 2,
        y=Y * 2,
        parts=2,
    ),
    good(
        "cells of experiments",
        mat(u=cells(U, U), y=cells(Y, Y)),
        "log.mat",
        u=U * 2,
        y=Y * 2,
        parts=2,
    ),
    good(
        "cells of structs",
        mat(runs=cells({"u": U, "y": Y}, {"u": U, "y": Y})),
        "log.mat",
        how={"inputs": "runs.u", "outputs": "runs.y"},
        u=U * 2,
        y=Y * 2,
        parts=2,
    ),
    bad(
        "cells that do not match",
        mat(u=cells(U, U), y=cells(Y, Y, Y)),
        "different numbers of experiments: u 2, y 3",
        file="log.mat",
    ),
    good(
        "timetable as a struct",
        mat(tt={"Time": [0.0, 0.5, 1.0], "u": U, "y": Y}),
        "log.mat",
        how={"inputs": "tt.u", "outputs": "tt.y", "time": "tt.Time"},
        dt=0.5,
    ),
    bad(
        "no such field",
        mat(z={"u": U, "y": Y}),
        "no variable 'z.w'",
        file="log.mat",
        how={"inputs": "z.w"},
    ),
    good("matlab 7.3 struct", mat73(struct73), "log.mat", how=ASK, dt=0.5),
    good("matlab 7.3 cells", mat73(cells73), "log.mat", u=U * 2, y=Y * 2, parts=2),
    good("hdf5", hdf5(grouped), "log.h5", how={"inputs": "run/u", "outputs": "run/y"}),
    good("hdf5 table", hdf5(compound), "log.hdf5"),
    bad("hdf5 that is none", b"foreign " * 50, "not a whole HDF5 file", file="log.h5"),
    good("sqlite", sqlite("log"), "log.db"),
    good(
        "sqlite by query",
        sqlite("log", "other"),
        "log.sqlite",
        how={"query": "select y as u, u as y from other"},
        u=Y,
        y=U,
    ),
    bad(
        "sqlite with two tables", sqlite("log", "other"), "the tables are log, other", file="log.db"
    ),
    bad(
        "sqlite, wrong query",
        sqlite("log"),
        "no such table: missing",
        file="log.db",
        how={"query": "select * from missing"},
    ),
    bad(
        "sqlite, no rows",
        sqlite("log"),
        "the query gives no rows",
        file="log.db",
        how={"query": "select * from log where u > 9"},
    ),
    bad(
        "sqlite that is none",
        b"foreign " * 50,
        "cannot be read as an SQLite data base",
        file="log.db",
    ),
    good("duckdb", duck, "log.duckdb"),
    good("duckdb by query", duck, "log.duckdb", how={"query": "select u, y from log order by u"}),
    good("gzip", gzip.compress(PLAIN.encode()), "log.csv.gz"),
    good("bzip2", bz2.compress(PLAIN.encode()), "log.csv.bz2"),
    good("xz", lzma.compress(PLAIN.encode()), "log.csv.xz"),
    good("zip", packed("log", ("log.csv", PLAIN.encode())), "log.zip"),
    good("zip of utf-16", packed("log", ("log.csv", PLAIN.encode("utf-16"))), "log.zip"),
    bad(
        "zip of two",
        packed("log", ("a.csv", b"1"), ("b.csv", b"2")),
        "expected one file inside, got 2 (a.csv, b.csv)",
        file="log.zip",
    ),
    bad(
        "half a gzip",
        gzip.compress(PLAIN.encode())[:-9],
        "not a whole packed file",
        file="log.csv.gz",
    ),
    bad(
        "text in a gzip",
        gzip.compress(b"u,y\n1,2\n3,four\n"),
        "log.csv.gz: column 'y', line 3",
        file="log.csv.gz",
    ),
    bad("an unknown kind", "x", "cannot read files ending in '.pdf'", file="log.pdf"),
]
