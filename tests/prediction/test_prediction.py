import numpy as np
import pandas
import polars
import pyarrow
import pytest

from prssm.data.record import Record
from prssm.models.constant import Constant
from prssm.prediction.prediction import Prediction


def run(**parts) -> Prediction:
    values = np.arange(2000.0).reshape(1000, 2)
    return Prediction(values, values + 1.0, output_names=("a", "b"), **parts)


def test_its_repr_is_one_short_line() -> None:
    text = repr(run(dt=0.1, samples=np.zeros((7, 1000, 2)), name="log.csv", warmup=16))
    assert text == (
        "Prediction('log.csv': 1000 rows, every 0.1 s, outputs: a, b, 16 rows seen, 7 samples)"
    )


def test_the_picture_has_a_legend() -> None:
    drawn = run(measured=np.zeros((1000, 2)), warmup=5).plot()
    words = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert words == ["measured", "free simulation", "± 2 std", "seen samples"]


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pandas.DataFrame, pandas.DataFrame),
        (polars.DataFrame, polars.DataFrame),
        (pyarrow.table, pyarrow.Table),
    ],
)
def test_a_frame_comes_back_in_the_library_that_came_in(frame, kind) -> None:
    rng = np.random.default_rng(0)
    data = frame({"u": rng.normal(size=20), "y": rng.normal(size=20)})
    model = Constant().fit(data, inputs=["u"], outputs=["y"])
    assert isinstance(model.simulate(data).to_frame(), kind)
    record = Record(rng.normal(size=20), rng.normal(size=20))
    assert isinstance(model.simulate(record).to_frame(), polars.DataFrame)
