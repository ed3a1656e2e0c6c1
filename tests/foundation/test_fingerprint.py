"""The checksum of arrays tells data apart."""

import numpy as np

from prssm.foundation.fingerprint import fingerprint

ARRAY = np.arange(6.0)


def test_equal_numbers_give_equal_checksums_wherever_they_lie():
    apart = np.arange(12.0).reshape(6, 2)
    assert fingerprint([ARRAY, 3]) == fingerprint([ARRAY.copy(), 3])
    assert fingerprint([apart[:, 0]]) == fingerprint([np.ascontiguousarray(apart[:, 0])])


def test_numbers_shapes_order_and_the_text_all_count():
    cases = [
        fingerprint([ARRAY]),
        fingerprint([ARRAY + 1e-9]),
        fingerprint([ARRAY.reshape(2, 3)]),
        fingerprint([ARRAY.reshape(3, 2)]),
        fingerprint([ARRAY[:3], ARRAY[3:]]),
        fingerprint([ARRAY[3:], ARRAY[:3]]),
        fingerprint([ARRAY], also="text"),
    ]
    assert len(set(cases)) == len(cases)
