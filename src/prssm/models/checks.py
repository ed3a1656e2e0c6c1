"""What every method does with a user's data before a run: the columns, rates and ranges must fit.

Errors are raised; what may be right is said as a caution.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from prssm.data.coerce import as_records, check_alike, check_training
from prssm.data.domain import check_rate
from prssm.data.frames import column_names, is_frame
from prssm.data.oddities import oddities
from prssm.data.record import Record
from prssm.foundation.errors import DataError, warn

if TYPE_CHECKING:
    from prssm.models.estimator import Estimator


def records_for(
    model: "Estimator",
    data: Any,
    y: Any,
    *,
    inputs: Any = None,
    outputs: Any = None,
    time: str | None = None,
) -> list[Record]:
    """Data as Records under the names that the model was trained with (or those given)."""
    if y is None:
        data = _with_inputs_alone(data)
    wanted = outputs or model.output_names_
    if is_frame(data):  # a frame may hold inputs alone
        known = column_names(data)
        if outputs is None:
            wanted = tuple(name for name in wanted if name in known) if y is None else wanted
        if time is None and model.domain_.time in known:
            time = model.domain_.time
    records = as_records(data, y, inputs=inputs or model.input_names_, outputs=wanted, time=time)
    check_alike(records)
    for record in records:
        _check_columns(model, record)
    return records


def training_records(data: Any, y: Any, **columns: Any) -> list[Record]:
    """Data as Records that can be learnt from; what looks odd in them is said."""
    records = as_records(data, y, **columns)
    check_training(records)
    for line in oddities(records):
        warn(f"{records[0].name}: {line}")
    return records


def cautions_about(model: "Estimator", record: Record) -> list[str]:
    """What a run of the model over this record must be distrusted for, one line each."""
    found = [*check_rate(record, model.dt_), *model.domain_.cautions(record, model.warmup)]
    if record.output_dim and len(record) < model.warmup:
        found.append(
            f"{record.name}: {len(record)} rows, but the state at the start is found from "
            f"{model.warmup}: expect larger errors"
        )
    return found


def _check_columns(model: "Estimator", record: Record) -> None:
    expected_u = len(model.input_names_)
    expected_y = len(model.output_names_)
    if record.input_dim != expected_u:
        raise DataError(
            f"{record.name}: {record.input_dim} inputs, but the model was trained with "
            f"{expected_u}: "
            f"{', '.join(model.input_names_) or 'none'}"
        )
    if record.output_dim not in (0, expected_y):
        raise DataError(
            f"{record.name}: {record.output_dim} outputs, but the model was trained with "
            f"{expected_y}: "
            f"{', '.join(model.output_names_)}"
        )


def _with_inputs_alone(data: Any) -> Any:
    """Arrays without outputs beside them are inputs: one array, or a list of them.

    A tuple of two stays what it is, (u, y).
    """
    if isinstance(data, np.ndarray) or (hasattr(data, "__array__") and not is_frame(data)):
        return Record(data, None)
    if isinstance(data, list):
        return [_with_inputs_alone(item) for item in data]
    return data
