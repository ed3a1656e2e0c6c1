"""The study of the linear model's band: its table counts right."""

from linear_bands import page


def test_the_table_counts_bands_that_are_too_narrow() -> None:
    def row(kind: str, held: float, plain: float, wider: float) -> dict:
        bands = {
            "band": {"held": held, "likelihood": 0.5},
            "plain": {"held": plain, "likelihood": -1},
        }
        return {"kind": kind, "number": 0, "wider": wider, **bands}

    rows = [row("pushed", 0.96, 0.94, 1.0), row("in a loop", 0.9, 0.5, 2.0)]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page(rows).splitlines()]
    assert lines[2] == ["all", "2", "93%", "0", "0.50", "72%", "1", "-1.00", "1.50"]
    assert lines[4] == ["in a loop", "1", "90%", "0", "0.50", "50%", "1", "-1.00", "2.00"]
