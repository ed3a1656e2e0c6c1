"""The study of the last check: its table counts right."""

from last_check import page


def test_the_table_counts_models_that_the_check_changed() -> None:
    def model(ratio: float) -> dict:
        return {"seconds": 0.1, "changed": ratio != 1.0, "ratio": ratio}

    rows = [
        {"kind": "arm", "shipped": 2, "orders": {"2": model(1.0), "3": model(0.25)}},
        {"kind": "pushed", "shipped": 4, "orders": {"4": model(1.21)}},
    ]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page(rows).splitlines()]
    assert lines[2] == ["all", "2", "1", "1.100", "3", "2", "0.671", "1.21"]
    assert lines[3] == ["arm", "1", "0", "1.000", "2", "1", "0.500", "1.00"]
    assert lines[4] == ["pushed", "1", "1", "1.210", "1", "1", "1.210", "1.21"]
