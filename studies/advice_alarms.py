"""Does the advice on data hold its tongue, and does it speak? Random systems, sound and spoilt.

    python studies/advice_alarms.py --systems 200

Each system is looked at as it is, and once with each defect. Printed for each kind of note: in how
many sound recordings it was there (a false alarm), and in how many of the spoilt ones. A sound
recording of these systems may be measured on a coarse scale, switch between two levels or answer
late: then that note is no false alarm. A delay cannot be seen where the input tells itself, as
sines and smooth noise do; only the others count there. The limits were chosen on the systems 300 to
499; these are others. Nothing is fitted; it takes a minute.
"""

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np

from prssm.data.advice.advise import notes_about
from prssm.data.advice.note import Note
from prssm.data.record import Record
from prssm.data.simulators.random_systems import RandomRecording, random_recording

LATER = 10  # rows of delay that are added


def spiked(found: RandomRecording, rng: np.random.Generator) -> Record:
    """Three values are off by five deviations of the output."""
    y = np.array(found.train.y)
    rows = rng.choice(np.arange(10, len(y) - 10), 3, replace=False)
    y[rows, 0] += 5.0 * y[:, 0].std() * rng.choice([-1.0, 1.0], 3)
    return found.train.changed(y=y)


def clipped(found: RandomRecording, rng: np.random.Generator) -> Record:
    """The sensor ends where the highest tenth begins."""
    y = np.array(found.train.y)
    y[:, 0] = np.minimum(y[:, 0], np.quantile(y[:, 0], 0.9))
    return found.train.changed(y=y)


def coarse(found: RandomRecording, rng: np.random.Generator) -> Record:
    """The scale has steps of 0.2 deviations."""
    y = np.array(found.train.y)
    step = 0.2 * y[:, 0].std()
    y[:, 0] = step * np.round(y[:, 0] / step)
    return found.train.changed(y=y)


def drifting(found: RandomRecording, rng: np.random.Generator) -> Record:
    """The output goes up by three deviations."""
    y = np.array(found.train.y)
    y[:, 0] += 3.0 * y[:, 0].std() * np.linspace(0.0, 1.0, len(y))
    return found.train.changed(y=y)


def gappy(found: RandomRecording, rng: np.random.Generator) -> Record:
    """Five rows in the middle are empty."""
    y = np.array(found.train.y)
    y[len(y) // 2 : len(y) // 2 + 5] = np.nan
    return found.train.changed(y=y)


def dead(found: RandomRecording, rng: np.random.Generator) -> Record:
    """One more input, which moves in one row of all."""
    extra = np.zeros((len(found.train), 1))
    extra[3] = 1.0
    u = np.concatenate([found.train.u, extra], axis=1)
    return Record(u, found.train.y, name=found.train.name)


def late(found: RandomRecording, rng: np.random.Generator) -> Record:
    """All inputs act some rows later."""
    return Record(found.train.u[LATER:], found.train.y[:-LATER], name=found.train.name)


def one_sine(found: RandomRecording, rng: np.random.Generator) -> Record:
    """The input is one sine."""
    u = np.array(found.train.u)
    u[:, 0] = np.sin(2.0 * np.pi * np.arange(len(u)) / 20.0)
    return found.train.changed(u=u)


def repeated(found: RandomRecording, rng: np.random.Generator) -> Record:
    """One more output, which is the first in other units."""
    y = found.train.y
    again = 2.5 * y[:, :1] + 1.0 + 0.003 * y[:, :1].std() * rng.standard_normal((len(y), 1))
    return Record(found.train.u, np.concatenate([y, again], axis=1), name=found.train.name)


def too_fast(found: RandomRecording, rng: np.random.Generator) -> Record:
    """Each row becomes thirty, with lines between them."""
    return _stretched(found.train, 30)


def too_slow(found: RandomRecording, rng: np.random.Generator) -> Record:
    """The output is what it was two rows ago: a curve of the input, and noise."""
    u = rng.standard_normal((len(found.train), 1))
    y = u + 0.2 * u**2 + 0.1 * rng.standard_normal(u.shape)
    return Record(u, y, name=found.train.name)


def _stretched(record: Record, times: int) -> Record:
    rows = np.arange(len(record))
    at = np.linspace(0, len(record) - 1, (len(record) - 1) * times + 1)
    u, y = (
        np.stack([np.interp(at, rows, column) for column in values.T], axis=1)
        for values in (record.u, record.y)
    )
    return Record(u, y, name=record.name)


DEFECTS: dict[str, Callable[[RandomRecording, np.random.Generator], Record]] = {
    "missing": gappy,
    "outliers": spiked,
    "clipping": clipped,
    "quantisation": coarse,
    "constant": dead,
    "drift": drifting,
    "delay": late,
    "excitation": one_sine,
    "sampled too fast": too_fast,
    "sampled too slowly": too_slow,
    "collinear": repeated,
}


def counts(first: int, systems: int) -> tuple[Counter[str], Counter[str], Counter[str], list[str]]:
    """By the kind of note: false alarms, finds, defects; and the false alarms in words."""
    false: Counter[str] = Counter()
    finds: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    said = []
    for number in range(first, first + systems):
        found = random_recording(number)
        rng = np.random.default_rng(number)
        alarms = [n for n in notes_about([found.train]) if not justified(n, found)]
        false.update({note.what for note in alarms})
        said += [f"{found.train.name}: {note}" for note in alarms]
        for what, spoil in DEFECTS.items():
            if what != "delay" or tells_delays(found):
                tried[what] += 1
                finds[what] += any(n.what == what for n in notes_about([spoil(found, rng)]))
        far = found.again(found.moves, 300, seed=number)
        shifted = far.changed(u=far.u + 3.0 * found.train.u.std(axis=0))
        tried["test range"] += 1
        finds["test range"] += "test range" in _about_test(found, shifted)
        false.update(_about_test(found, far))
    return false, finds, tried, said


def tells_delays(found: RandomRecording) -> bool:
    """Whether all inputs move at moments that nobody can foresee."""
    return all(move.kind in ("steps", "on-off") for move in found.moves)


def _about_test(found: RandomRecording, test: Record) -> set[str]:
    notes = notes_about([found.train], [test])
    return {note.what for note in notes if note.what.startswith("test")}


def justified(note: Note, found: RandomRecording) -> bool:
    """Whether such a recording deserves the note as it is."""
    if note.what in ("quantisation", "clipping"):
        return found.facts["quantum"] > 0.0
    if note.what == "two levels":
        return "on-off" in found.facts["input"]
    if note.what == "delay":
        number = found.train.input_names.index(note.where)
        return answers_after(found, number) > int(note.step.rpartition(":")[2])
    return False


def answers_after(found: RandomRecording, number: int) -> float:
    """Rows after which a step of an input has done a twentieth of all that it will do."""
    rng = np.random.default_rng(1)
    drive = found.moves[number].draw(rng, 600)
    after = []
    for blocks in found.plant.blocks:
        usual = blocks[number](drive)
        for row in range(200, 500, 60):
            moved = drive + 0.7 * (np.arange(600) >= row)
            effect = np.abs(blocks[number](moved) - usual)[row : row + 100]
            if effect.max() > 0.0:
                after.append(int(np.argmax(effect > 0.05 * effect.max())))
    return float(np.median(after)) if after else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--systems", type=int, default=200)
    options = parser.parse_args()
    false, finds, tried, said = counts(options.first, options.systems)
    print("\n".join(said))
    print("| note | false alarms | found where it is |\n|---|---|---|")
    for what in sorted({*false, *tried}):
        found = f"{finds[what]} of {tried[what]}" if what in tried else ""
        print(f"| {what} | {false[what]} of {options.systems} | {found} |")


if __name__ == "__main__":
    main()
