"""The study of advice in small: sound recordings are left in peace, defects are found."""

from advice_alarms import counts, justified

from prssm.data.advice.advise import notes_about
from prssm.data.simulators.random_systems import random_recording


def test_sound_recordings_are_left_in_peace() -> None:
    alarms = [
        str(note)
        for found in map(random_recording, range(500, 512))
        for note in notes_about([found.train])
        if not justified(note, found)
    ]
    assert len(alarms) <= 1  # 200 have a few


def test_defects_are_found() -> None:
    false, finds, tried, _ = counts(520, 2)
    assert false.total() <= 1
    assert finds.total() >= 0.75 * tried.total()
