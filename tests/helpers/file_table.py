"""Small files as people save them, each with what reading it must give.

A case is the file's content, how it is asked for, and either the values that come out or a part of
the one line that refuses it. `tests/data/io/test_file_table.py` reads them all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

U = [1.0, 3.0, 5.0]
Y = [2.0, 4.0, 6.0]
NAN = float("nan")
Writer = Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """One file: `refused` is a part of the message, else u, y and dt are what comes out."""

    label: str
    content: str | bytes | Writer
    file: str = "log.csv"
    how: dict[str, Any] = field(default_factory=dict)
    u: list[float] | None = None
    y: list[float] | None = None
    dt: float | None = None
    refused: str | None = None
    warned: str | None = None
    parts: int = 1


def good(label: str, content: str | bytes | Writer, file: str = "log.csv", **more: Any) -> Case:
    """A file that reads as u = 1, 3, 5 and y = 2, 4, 6 where nothing else is said."""
    return Case(label, content, file, **({"u": U, "y": Y} | more))


def bad(label: str, content: str | bytes | Writer, line: str, **more: Any) -> Case:
    return Case(label, content, refused=line, **more)


PLAIN = "u,y\n1,2\n3,4\n5,6\n"
INDEXED = ",u,y\n0,1,2\n1,3,4\n2,5,6\n"

LAYOUT = [
    good("plain", PLAIN),
    good("windows line ends", PLAIN.replace("\n", "\r\n")),
    good("old mac line ends", PLAIN.replace("\n", "\r")),
    good("no last line end", PLAIN.rstrip()),
    good("semicolons", PLAIN.replace(",", ";")),
    good("tabs", PLAIN.replace(",", "\t")),
    good("tabs in a tsv", PLAIN.replace(",", "\t"), "log.tsv"),
    good("bars", PLAIN.replace(",", "|")),
    good("blanks", "  u    y\n 1   2\n 3   4\n 5   6\n", "log.dat"),
    good("comma and blank", PLAIN.replace(",", ", ")),
    good("trailing commas", "u,y,\n1,2,\n3,4,\n5,6,\n"),
    good("comments", "# made by hand\nu,y\n1,2\n% note\n3,4\n5,6\n"),
    good("empty lines", "\n\nu,y\n1,2\n\n3,4\n\n5,6\n\n"),
    good("utf-8 mark", b"\xef\xbb\xbf" + PLAIN.encode()),
    good("utf-16", PLAIN.encode("utf-16")),
    good("utf-16 big end first", b"\xfe\xff" + PLAIN.encode("utf-16-be")),
    good("utf-16 with semicolons", PLAIN.replace(",", ";").encode("utf-16")),
    good("latin-1", "u,y,T [°C]\n1,2,20\n3,4,21\n5,6,22\n".encode("latin-1")),
    good("quoted", '"u","y"\n"1","2"\n"3","4"\n"5","6"\n'),
    good("excel's sep line", "sep=;\nu;y\n1;2\n3;4\n5;6\n"),
    good("pandas' index", INDEXED),
    good("pandas' index, semicolons", INDEXED.replace(",", ";")),
    good("two unnamed columns", ",u,y,\n0,1,2,7\n1,3,4,7\n2,5,6,7\n"),
    good("duplicate names among the rest", "a,a,u,y\n0,9,1,2\n1,9,3,4\n2,9,5,6\n"),
    bad("duplicate names that are asked for", "u,u,y\n0,1,2\n1,3,4\n", "2 columns are called 'u'"),
    good("a preamble", "Logger ACME 7\nStart: monday\n\nu,y\n1,2\n3,4\n5,6\n"),
    good("a preamble, semicolons", "Logger ACME\nu;y\n1;2\n3;4\n5;6\n"),
    bad("a row too short", "u,y\n1,2\n3\n5,6\n", "line 3 has 1 cells, expected 2"),
    bad("a row too long", "u,y\n1,2\n3,4,5\n5,6\n", "line 3 has 3 cells, expected 2"),
    bad("two tables", "u,y\n1,2\na,b,c\n1,2,3\n4,5,6\n", "line 3 has 3 cells, expected 2"),
    good("no header", "1,2\n3,4\n5,6\n", how={"inputs": "1", "outputs": "2"}),
    good(
        "no header, dates first",
        "2024-05-31 12:00:00,1,2\n2024-05-31 12:00:01,3,4\n2024-05-31 12:00:02,5,6\n",
        how={"inputs": "2", "outputs": "3", "time": "1"},
        dt=1.0,
    ),
    good(
        "a name with a comma",
        '"flow, left",y\n1,2\n3,4\n5,6\n',
        how={"inputs": ["flow, left"]},
    ),
    good("names joined by a comma", "a,b,y\n1,9,2\n3,9,4\n5,9,6\n", how={"inputs": "a"}),
    good("names with blanks", "valve pos,y\n1,2\n3,4\n5,6\n", how={"inputs": "valve pos"}),
    good("text in another column", "note,u,y\nwarm,1,2\ncold,3,4\nhot,5,6\n"),
    bad("empty", "", "the file is empty"),
    bad("blank lines only", "\n\n \n", "the file is empty"),
    bad("comments only", "# a\n# b\n", "the file is empty"),
    bad("header only", "u,y\n", "no rows of data below the header u, y"),
    bad("header and units only", "u,y\nV,bar\n", "column 'u', line 2: expected a number"),
    bad("one row", "u,y\n1,2\n", "at least 2 rows, got 1"),
    bad("binary", b"u,y\n\x00\x01\x02\n", "expected text, got a binary file"),
    bad("half of utf-16", PLAIN.encode("utf-16")[:-1], "not a whole UTF-16 text"),
    bad("an open quote", 'u,y\n1,"2\n3,4\n', "not a table of cells"),
    bad("no such column", PLAIN, "no column 'z'", how={"outputs": "z"}),
    bad("a column twice", PLAIN, "asked for twice", how={"inputs": "u", "outputs": ["u", "y"]}),
    bad("no convention", "a,b\n1,2\n3,4\n", "the columns are a, b"),
]

UNITS = [
    good("a units row", "u,y\nV,bar\n1,2\n3,4\n5,6\n"),
    good("a units row in brackets", "u,y\n[V],[bar]\n1,2\n3,4\n5,6\n"),
    good("a units row with a dash", "u,y\n-,bar\n1,2\n3,4\n5,6\n"),
    good(
        "a units row and a time",
        "time,u,y\ns,V,bar\n0,1,2\n0.1,3,4\n0.2,5,6\n",
        dt=0.1,
    ),
    good("units in names", "u [V],y (bar)\n1,2\n3,4\n5,6\n", how={"inputs": "u", "outputs": "y"}),
    good(
        "units in names, named in full",
        "u [V],y (bar)\n1,2\n3,4\n5,6\n",
        how={"inputs": "u [V]", "outputs": "y (bar)"},
    ),
    bad(
        "two columns of one bare name",
        "u [V],u [A],y\n1,2,3\n3,4,5\n",
        "2 columns are called 'u'",
        how={"inputs": "u"},
    ),
]

BIG = [1234.5, 2345.0, 3456.25]
NUMBERS = [
    good("decimal commas", "u;y\n1,5;2,5\n3,5;4,5\n", u=[1.5, 3.5], y=[2.5, 4.5]),
    good("decimal commas, tabs", "u\ty\n1,5\t2,5\n3,5\t4,5\n", u=[1.5, 3.5], y=[2.5, 4.5]),
    good("decimal commas, blanks", "u y\n1,5 2,5\n3,5 4,5\n", u=[1.5, 3.5], y=[2.5, 4.5]),
    good("decimal commas in quotes", 'u,y\n"1,5","2,5"\n"3,5","4,5"\n', u=[1.5, 3.5], y=[2.5, 4.5]),
    good("three decimals after a comma", "u;y\n1,234;2\n3,456;4\n", u=[1.234, 3.456], y=[2, 4]),
    good(
        "a minus sign of its own",
        "u;y\n\N{MINUS SIGN}1,5;2\n3,25;4\n\N{MINUS SIGN}0,044;6\n",
        u=[-1.5, 3.25, -0.044],
    ),
    good(  # no group of thousands begins with 0
        "three decimals after 0 and a comma",
        "u;y\n0,978;2\n-0,044;4\n3,617;6\n",
        u=[0.978, -0.044, 3.617],
    ),
    good(
        "three decimals after 0 and a point, commas in words",
        'u,y,note\n0.978,2,"a, b"\n-0.044,4,c\n3.617,6,d\n',
        u=[0.978, -0.044, 3.617],
    ),
    good(
        "thousands by commas",
        'u,y\n"1,234.5",2\n"2,345",4\n"3,456.25",6\n',
        u=BIG,
    ),
    good("thousands by points", "u;y\n1.234,5;2\n2.345;4\n3.456,25;6\n", u=BIG),
    good("thousands by blanks", "u;y\n1 234.5;2\n2 345;4\n3 456.25;6\n", u=BIG),
    good(
        "thousands by hard blanks", "u;y\n1\u00a0234,5;2\n2\u00a0345,0;4\n3\u00a0456,25;6\n", u=BIG
    ),
    good("thousands by apostrophes", "u,y\n1'234.5,2\n2'345,4\n3'456.25,6\n", u=BIG),
    good("millions", 'u,y\n"1,234,567",2\n"2,345,678",4\n', u=[1234567, 2345678], y=[2, 4]),
    good(
        "points for thousands, shown by another column",
        "u;y\n1.234;0,5\n2.345;1,5\n",
        u=[1234, 2345],
        y=[0.5, 1.5],
    ),
    bad(
        "a comma that may be either",
        'u,y\n"1,234",2\n"3,456",4\n',
        "'1,234' may have a decimal comma or thousands",
    ),
    bad("the same with tabs", "u\ty\n1,234\t2\n3,456\t4\n", "say --decimal"),
    good(
        "a comma that may be either, told",
        'u,y\n"1,234",2\n"3,456",4\n',
        how={"decimal": ","},
        u=[1.234, 3.456],
        y=[2, 4],
    ),
    good(
        "thousands, told",
        "u\ty\n1,234\t2\n3,456\t4\n",
        how={"decimal": "."},
        u=[1234, 3456],
        y=[2, 4],
    ),
    bad("both marks in a column", "u;y\n1,5;2\n3.5;4\n", "decimal commas and decimal points"),
    bad("grouped wrongly", 'u,y\n"12,34.5",2\n"1,2.5",4\n', "expected a number, got '12,34.5'"),
    good("exponents", "u,y\n1e0,2E+0\n3.0e0,40e-1\n5,6\n"),
    good("exponents with a comma", "u;y\n1,0e0;2\n3,0E0;4\n5;6\n"),
    good("plus signs", "u,y\n+1,+2\n+3,+4\n+5,+6\n"),
    good("switches", "u,y\nTrue,2\nFalse,4\nTRUE,6\n", u=[1, 0, 1]),
    good("on and off", "u,y\non,2\noff,4\nON,6\n", u=[1, 0, 1]),
    bad("text", "u,y\n1,2\n\n3,four\n", "column 'y', line 4: expected a number, got 'four'"),
    bad("Python's grouping", "u,y\nx,1\n1_0,2\n3,4\n", "expected a number"),
    bad(
        "infinity",
        "u,y\n1,2\n3,inf\n",
        "column 'y', line 3: expected a finite number, got an infinite",
    ),
    bad(
        "C's infinity",
        "u,y\n1,2\n3,1.#INF\n",
        "column 'y', line 3: expected a finite number, got an infinite",
    ),
    bad("a missing input", "u,y\n1,2\n,4\n", "input column 'u', line 3: the value is missing"),
]
MISSING_WORDS = (
    "",
    "NaN",
    "nan",
    "NA",
    "n/a",
    "null",
    "None",
    "-",
    "--",
    "?",
    "#N/A",
    "#NA",
    "1.#QNAN",
    "-1.#IND",
    "<NA>",
    "#VALUE!",
    "#DIV/0!",
    "-nan",
)
MISSING = [
    good(f"missing as {word!r}", f"u,y\n1,2\n3,{word}\n5,6\n", y=[2, NAN, 6])
    for word in MISSING_WORDS
]
