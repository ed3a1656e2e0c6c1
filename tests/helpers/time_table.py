"""Time stamps as people write them, each with what reading them must give: see `file_table`."""

from typing import Any

from file_table import NAN, PLAIN, Case, bad, good


def timed(stamps: list[str], mark: str = ",", name: str = "t") -> str:
    """A table with these time stamps, u and y."""
    rows = [f"{stamp}{mark}{2 * i + 1}{mark}{2 * i + 2}" for i, stamp in enumerate(stamps)]
    return "\n".join([f"{name}{mark}u{mark}y", *rows]) + "\n"


def at(label: str, stamps: list[str], dt: float, **more: Any) -> Case:
    """Stamps of a regular record, which must give this step."""
    how = {"time": "t"} | more.pop("how", {})
    return good(label, timed(stamps), how=how, dt=dt, **more)


FORMS = {
    "seconds": (["0", "0.1", "0.2"], 0.1),
    "seconds from 7": (["7.1", "7.2", "7.3"], 0.1),
    "iso": (["2024-05-31T12:00:00", "2024-05-31T12:00:01", "2024-05-31T12:00:02"], 1.0),
    "iso with blank": (
        ["2024-05-31 12:00:00.5", "2024-05-31 12:00:01.0", "2024-05-31 12:00:01.5"],
        0.5,
    ),
    "iso in UTC": (["2024-05-31T12:00:00Z", "2024-05-31T12:00:01Z", "2024-05-31T12:00:02Z"], 1.0),
    "iso with zone": (
        ["2024-05-31T12:00:00+02:00", "2024-05-31T12:00:01+02:00", "2024-05-31T12:00:02+02:00"],
        1.0,
    ),
    "zone that changes": (
        ["2024-10-27T02:30:00+02:00", "2024-10-27T02:00:00+01:00", "2024-10-27T02:30:00+01:00"],
        1800.0,
    ),
    "logging's comma": (
        ["2024-05-31 12:00:00;000", "2024-05-31 12:00:00;250", "2024-05-31 12:00:00;500"],
        0.25,
    ),
    "slashes, year first": (["2024/05/31 12:00", "2024/05/31 12:10", "2024/05/31 12:20"], 600.0),
    "days": (["2024-02-28", "2024-02-29", "2024-03-01"], 86400.0),
    "german": (["31.05.2024 12:00", "31.05.2024 12:01", "31.05.2024 12:02"], 60.0),
    "german days in one month": (["01.05.2024", "02.05.2024", "03.05.2024"], 86400.0),
    "american": (["5/31/2024 11:59:58 PM", "5/31/2024 11:59:59 PM", "6/1/2024 12:00:00 AM"], 1.0),
    "british": (["31/05/24 12:00:00", "31/05/24 12:00:01", "31/05/24 12:00:02"], 1.0),
    "day or month first, by the rate": (
        [
            "01/02/2024",
            "02/02/2024",
            "03/02/2024",
            "04/02/2024",
            "05/02/2024",
            "06/02/2024",
            "07/02/2024",
            "08/02/2024",
            "09/02/2024",
            "10/02/2024",
            "11/02/2024",
            "12/02/2024",
        ],
        86400.0,
    ),
    "MATLAB's text": (
        ["31-May-2024 12:00:00", "31-May-2024 12:00:01", "31-May-2024 12:00:02"],
        1.0,
    ),
    "month's name first": (
        ["May 31 2024 12:00:00", "May 31 2024 12:00:01", "May 31 2024 12:00:02"],
        1.0,
    ),
    "compact": (["20240531T120000Z", "20240531T120001Z", "20240531T120002Z"], 1.0),
    "compact digits": (["20240531120000", "20240531120001", "20240531120002"], 1.0),
    "clock": (["12:00:00", "12:00:01", "12:00:02"], 1.0),
    "clock with parts": (["12:00:00.00", "12:00:00.02", "12:00:00.04"], 0.02),
    "clock over midnight": (["23:59:59", "00:00:00", "00:00:01"], 1.0),
    "clock am and pm": (["11:59:59 AM", "12:00:00 PM", "12:00:01 PM"], 1.0),
    "minutes and seconds": (["59:59.5", "00:00.0", "00:00.5"], 0.5),
    "pandas' durations": (["0 days 00:00:00", "0 days 00:00:01.5", "0 days 00:00:03"], 1.5),
    "Unix seconds": (["1717156800", "1717156801", "1717156802"], 1.0),
    "Unix milliseconds": (["1717156800000", "1717156800020", "1717156800040"], 0.02),
    "Unix microseconds": (["1717156800000000", "1717156800000100", "1717156800000200"], 1e-4),
    "Unix nanoseconds": (
        ["1717156800000000000", "1717156800000000050", "1717156800000000100"],
        5e-8,
    ),
    "Excel's days": (["45443.5", "45443.500011574074", "45443.500023148148"], 1.0),
    "MATLAB's days": (["739403.5", "739403.5006944444", "739403.5013888889"], 60.0),
}
TIMES = [
    at(
        name,
        [stamp.replace(";", ".") for stamp in stamps],
        dt,
        **(
            {}
            if len(stamps) == 3
            else {
                "u": [2.0 * i + 1 for i in range(len(stamps))],
                "y": [2.0 * i + 2 for i in range(len(stamps))],
            }
        ),
    )
    for name, (stamps, dt) in FORMS.items()
]
TIMES += [
    good("time by convention", timed(["0", "0.5", "1"], name="time"), dt=0.5),
    good(
        "milliseconds by name",
        timed(["0", "10", "20"], name="time_ms"),
        how={"time": "time_ms"},
        dt=0.01,
    ),
    good(
        "milliseconds in brackets",
        timed(["0", "10", "20"], name="t [ms]"),
        how={"time": "t"},
        dt=0.01,
    ),
    at("milliseconds, told", ["0", "10", "20"], 0.01, how={"time_unit": "ms"}),
    at("hours, told", ["0", "1", "2"], 3600.0, how={"time_unit": "h"}),
    at("Excel's days, told", ["45443", "45444", "45445"], 86400.0, how={"time_unit": "excel"}),
    at("days or seconds", ["45443", "45444", "45445"], 1.0, warned="if it counts days, say"),
    at(
        "seconds of the day",
        ["45443.00", "45443.01", "45443.02"],
        0.01,
        warned="is read as seconds",
    ),
    at(
        "hours and minutes",
        ["12:00", "12:01", "12:02"],
        60.0,
        warned="is read as hours and minutes",
    ),
    good("decimal commas in seconds", timed(["0,0", "0,5", "1,0"], ";"), how={"time": "t"}, dt=0.5),
    good(
        "ISO beside decimal commas",
        timed(["2024-05-31 12:00:00,5", "2024-05-31 12:00:01,0", "2024-05-31 12:00:01,5"], ";"),
        how={"time": "t"},
        dt=0.5,
    ),
    bad(
        "day or month first",
        timed(["01/02/2024", "03/02/2024"]),
        "may be day first or month first",
        how={"time": "t"},
    ),
    at(
        "day first, told",
        ["01/02/2024", "02/02/2024", "03/02/2024"],
        86400.0,
        how={"time_unit": "day-first"},
    ),
    bad(
        "neither day nor month first",
        timed(["31/02/2024", "02/31/2024"]),
        "neither day first nor month first",
        how={"time": "t"},
    ),
    bad("no such day", timed(["2024-02-30", "2024-03-01"]), "not a date", how={"time": "t"}),
    bad("no time", timed(["monday", "tuesday"]), "expected seconds, dates", how={"time": "t"}),
    bad(
        "another form in a row",
        timed(["12:00:00", "12:00:01", "noon"]),
        "line 4: expected a time as in the first row",
        how={"time": "t"},
    ),
    bad(
        "a missing stamp", timed(["0", "", "2"]), "the time is missing at line 3", how={"time": "t"}
    ),
    bad(
        "an unknown unit",
        timed(["0", "1", "2"]),
        "unknown unit 'fortnights'",
        how={"time": "t", "time_unit": "fortnights"},
    ),
    bad(
        "dt against the stamps",
        timed(["0", "1", "2"]),
        "dt is 2 but the time stamps are 1 apart",
        how={"time": "t", "dt": 2.0},
    ),
    good("dt instead of the stamps", timed(["0", "7", "8"], name="time"), how={"dt": 0.5}, dt=0.5),
]


def rows_at(stamps: list[float]) -> tuple[str, list[float], list[float]]:
    """A table whose u and y are linear in time."""
    u = [round(10 * t, 6) for t in stamps]
    y = [round(100 * t, 6) for t in stamps]
    rows = [f"{t!r},{a!r},{b!r}" for t, a, b in zip(stamps, u, y, strict=True)]
    return "\n".join(["t,u,y", *rows]) + "\n", u, y


def mended(label: str, stamps: list[float], how: dict[str, Any], **more: Any) -> Case:
    content, u, y = rows_at(stamps)
    return Case(label, content, how={"time": "t"} | how, **({"u": u, "y": y} | more))


def refused_rows(label: str, stamps: list[float], line: str, **how: Any) -> Case:
    return bad(label, rows_at(stamps)[0], line, how={"time": "t"} | how)


GAP = [0.0, 1.0, 2.0, 5.0, 6.0]
BACK = [0.0, 2.0, 1.0, 3.0]
TWICE = [0.0, 1.0, 1.0, 2.0, 3.0]
UNEVEN = [0.0, 1.0, 2.4, 3.0, 4.0]
SIXTY = [round(k / 60, 3) for k in range(20)]
GRIDS = [
    mended("60 Hz in milliseconds", SIXTY, {}, dt=1 / 60),
    mended("a fifth of jitter", [0.0, 1.2, 1.9, 3.1, 4.0], {}, dt=1.0),
    refused_rows("a gap", GAP, "2 rows missing after line 4"),
    refused_rows("a gap offers", GAP, "--gaps split makes experiments of the parts"),
    mended(
        "a gap, filled",
        GAP,
        {"gaps": "fill"},
        u=[0, 10, 20, 30, 40, 50, 60],
        y=[0, 100, 200, NAN, NAN, 500, 600],
        dt=1.0,
    ),
    mended(
        "a gap, split",
        GAP,
        {"gaps": "split"},
        u=[0, 10, 20, 50, 60],
        y=[0, 100, 200, 500, 600],
        dt=1.0,
        parts=2,
    ),
    refused_rows("time goes back", BACK, "time goes back at line 4"),
    mended(
        "time goes back, sorted",
        BACK,
        {"sort": True},
        u=[0, 10, 20, 30],
        y=[0, 100, 200, 300],
        dt=1.0,
    ),
    refused_rows("a row twice", TWICE, "line 4 has the time of the row before it"),
    mended(
        "a row twice, first",
        TWICE,
        {"duplicates": "first"},
        u=[0, 10, 20, 30],
        y=[0, 100, 200, 300],
        dt=1.0,
    ),
    mended(
        "a row twice, mean",
        TWICE,
        {"duplicates": "mean"},
        u=[0, 10, 20, 30],
        y=[0, 100, 200, 300],
        dt=1.0,
    ),
    refused_rows(
        "coarse stamps", [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], "the stamps are coarser than the rows"
    ),
    refused_rows("uneven", UNEVEN, "from line 3 to line 4 it is 1.4"),
    mended(
        "uneven, resampled",
        UNEVEN,
        {"resample": "auto"},
        u=[0, 10, 20, 30, 40],
        y=[0, 100, 200, 300, 400],
        dt=1.0,
    ),
    mended(
        "faster, by name",
        [0.0, 1.0, 2.0],
        {"resample": "500ms"},
        u=[0, 5, 10, 15, 20],
        y=[0, 50, 100, 150, 200],
        dt=0.5,
    ),
    refused_rows(
        "a pause in resampling", [*UNEVEN, 20.0, 21.0], "a pause of 16 s", resample="auto"
    ),
    mended(
        "a pause, split",
        [0.0, 1.0, 2.0, 20.0, 21.0],
        {"resample": 1.0, "gaps": "split"},
        u=[0, 10, 20, 200, 210],
        y=[0, 100, 200, 2000, 2100],
        dt=1.0,
        parts=2,
    ),
    bad(
        "resampling without time",
        PLAIN,
        "--resample needs the time of each row",
        how={"resample": 0.5},
    ),
    bad(
        "an unknown rule",
        rows_at(GAP)[0],
        "gaps: expected error, split, fill",
        how={"time": "t", "gaps": "ignore"},
    ),
    bad(
        "an unknown step",
        rows_at(GAP)[0],
        "expected a time such as 0.5s",
        how={"time": "t", "resample": "often"},
    ),
    at(
        "spring",
        ["2024-03-31 01:58:00", "2024-03-31 01:59:00", "2024-03-31 03:00:00"],
        60.0,
        warned="put forward by an hour",
    ),
    at(
        "autumn",
        ["2024-10-27 02:58:00", "2024-10-27 02:59:00", "2024-10-27 02:00:00"],
        60.0,
        warned="put back by an hour",
    ),
    bad(
        "an hour on a weekday",
        timed(["2024-03-27 01:58:00", "2024-03-27 01:59:00", "2024-03-27 03:00:00"]),
        "time stamps are irregular",
        how={"time": "t"},
    ),
]
