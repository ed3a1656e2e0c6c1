"""What every method does with a user's data before a run: the columns, rates and ranges must fit.

Errors are raised; what may be right is said as a caution.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prssm.data.advice.delays import delay
from prssm.data.advice.looked import Looked
from prssm.data.advice.values import oddities
from prssm.data.coerce import as_records, check_alike, check_training
from prssm.data.domain import check_rate
from prssm.data.frames import column_names, is_frame
from prssm.data.io.columns import FileColumns, bare_name
from prssm.data.io.files import open_columns, records_in
from prssm.data.io.records import Choice
from prssm.data.preprocessing.pipeline import Prepared, Preprocessing
from prssm.data.record import Record
from prssm.foundation.errors import DataError, OptionError, warn

if TYPE_CHECKING:
    from prssm.models.free_running import FreeRunning


def records_for(
    model: "FreeRunning",
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
    if isinstance(data, str | os.PathLike) and y is None:
        choice = Choice(inputs, outputs, time)
        return _checked(model, records_in_file(model, open_columns(data), choice))
    if is_frame(data):  # a frame may hold inputs alone
        known = column_names(data)
        if outputs is None and y is None:
            _warn_of_other_units(type(data).__name__, known, wanted)
            wanted = tuple(name for name in wanted if name in known)
        if time is None and model.domain_.time in known:
            time = model.domain_.time
    records = as_records(data, y, inputs=inputs or model.input_names_, outputs=wanted, time=time)
    return _checked(model, records)


def _checked(model: "FreeRunning", records: list[Record]) -> list[Record]:
    check_alike(records)
    for record in records:
        _check_columns(model, record)
    return records


def records_in_file(model: "FreeRunning", found: FileColumns, choice: Choice) -> list[Record]:
    """The columns of an open file under the names that the model was trained with (or those given).

    A file that holds none of the model's outputs is a simulation from inputs alone.
    """
    outputs: Sequence[str] | str = choice.outputs or model.output_names_
    if not choice.outputs and not set(found.names).intersection(outputs):
        _warn_of_other_units(found.where, found.names, outputs)
        outputs = ()
    choice = replace(choice, inputs=choice.inputs or model.input_names_, outputs=outputs)
    time = model.domain_.time
    if choice.time is None and choice.dt is None and time in found.names:
        choice = replace(choice, time=time)
    return records_in(found, choice)


def _warn_of_other_units(where: str, names: Sequence[str], outputs: Sequence[str]) -> None:
    """A run may go without measured outputs, but not because nobody saw that a unit has changed."""
    for output in outputs:
        alike = [name for name in names if bare_name(name) == bare_name(output)]
        if alike and output not in alike:
            warn(
                f"{where}: column {alike[0]!r} is not read, the model's output is {output!r}; "
                "bring it to that unit and that name, or the run starts without it"
            )


def training_records(
    data: Any, y: Any, preprocess: Any = None, **columns: Any
) -> tuple[Preprocessing, list[Record]]:
    """What a model is trained on: steps that have learnt, and the records as it sees them.

    What cannot be learnt from is refused; what looks odd in the rows is said, and where an output
    answers an input so late that it is better handed over later.
    """
    steps = Preprocessing.of(preprocess)
    records = as_records(data, y, **columns)
    check_alike(records)
    measured = steps.training(records)
    check_training(measured)
    steps, seen = steps.learn(measured)
    if steps.model_steps:
        check_training(seen)
    # as the model sees them: a step may have handed an input over later
    late = delay(Looked(seen), sure=True)
    for line in [*oddities(measured), *late]:
        warn(f"{records[0].name}: {line}")
    return steps, seen


def prepared_for_run(model: "FreeRunning", record: Record, start: int | None) -> Prepared:
    """A recording for a free run, of whose outputs no row after the warm-up is read.

    They are hidden before the steps, so that no filter can look at them. `start` is a smaller
    number of rows of the recording, if one was asked for.
    """
    steps = model.preprocessing_
    if not steps.model_steps or not record.output_dim:
        return steps.prepare(record)
    measured, _ = steps.prepare(record)
    rows = model.warmup * len(record) // len(measured)  # of the recording, that warm-up takes
    if start is not None:
        rows = min(rows, start)
    hidden = np.array(record.y)
    hidden[rows:] = np.nan
    return Prepared(measured, steps.prepare(record.changed(y=hidden)).seen)


def cautions_about(model: "FreeRunning", record: Record) -> list[str]:
    """What a run of the model over this record must be distrusted for, one line each.

    The record is as the model sees it.
    """
    found = [
        *check_rate(record, model.dt_),
        *model.domain_.cautions(record, model.warmup, (*model.input_names_, *model.output_names_)),
        *model.preprocessing_.cautions(record),
    ]
    if record.output_dim and len(record) < model.warmup:
        found.append(
            f"{record.name}: {len(record)} rows, but the state at the start is found from "
            f"{model.warmup}: expect larger errors"
        )
    return found


def _check_columns(model: "FreeRunning", record: Record) -> None:
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
    _check_order(model, record)


def _check_order(model: "FreeRunning", record: Record) -> None:
    """Columns are taken by their place, so the same names in another order are a mistake."""
    both = [(record.input_names, model.input_names_), (record.output_names, model.output_names_)]
    for names, expected in both:
        if tuple(names) != tuple(expected) and sorted(names) == sorted(expected):
            raise DataError(
                f"{record.name}: columns {', '.join(names)}; expected them in the order of "
                f"training: {', '.join(expected)}"
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


def checked_start(rows: Any) -> int:
    """How many first rows a free run may read outputs of."""
    whole = isinstance(rows, int | np.integer) and not isinstance(rows, bool)
    if not whole or rows < 1:
        raise OptionError(f"start: expected a number of rows of at least 1, got {rows!r}")
    return int(rows)
