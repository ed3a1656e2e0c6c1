"""Cascaded tanks with overflow: a pump fills the upper tank, which drains into the lower one.

The lower level is measured.

    h1' = -k_out1 sqrt(h1) + k_pump u                          while h1 < height
    h2' =  k_in2 sqrt(h1) - k_out2 sqrt(h2) + share * spill     while h2 < height

A full upper tank stays full and spills what does not fit; a share of the spill falls into the lower
tank. What does not fit into the lower tank is lost, and the sensor cannot read more than its limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.simulators.system import System, Trajectory
from prssm.foundation.options import Options, option


@dataclass(frozen=True)
class TanksParameters(Options):
    """Physical parameters of the tanks, and the slow random waves of the pump."""

    dt: float = option(4.0, "sampling time in seconds", above=0.0)
    pump_gain: float = option(0.05, "inflow of the upper tank for one volt", above=0.0)
    upper_outflow: float = option(
        0.05, "outflow of the upper tank for a unit square root of its level", minimum=0.0
    )
    lower_inflow: float = option(0.05, "the same flow, as the lower tank receives it", minimum=0.0)
    lower_outflow: float = option(
        0.055, "outflow of the lower tank for a unit square root of its level", minimum=0.0
    )
    height: float = option(10.0, "level at which a tank overflows", above=0.0)
    spill_share: float = option(
        0.4, "share of the upper tank's overflow that falls into the lower tank", minimum=0.0
    )
    sensor_limit: float = option(9.8, "highest level that the sensor can read", above=0.0)
    pump_mean: float = option(3.0, "mean voltage of the pump", minimum=0.0)
    pump_std: float = option(1.5, "standard deviation of the pump's voltage", minimum=0.0)
    pump_bandwidth: float = option(
        0.0144, "highest frequency in the pump's voltage, in hertz", above=0.0
    )
    process_std: float = option(
        0.02, "standard deviation of the unmeasured part of the pump's voltage", minimum=0.0
    )
    output_std: float = option(0.03, "standard deviation of the sensor noise", minimum=0.0)


def rates(p: TanksParameters, levels: np.ndarray, voltage: np.ndarray) -> np.ndarray:
    """Time derivatives of the two levels (2, ..), overflow included."""
    root1, root2 = np.sqrt(np.maximum(levels, 0.0))
    upper = p.pump_gain * voltage - p.upper_outflow * root1
    spill = np.where(levels[0] >= p.height, np.maximum(upper, 0.0), 0.0)
    lower = p.lower_inflow * root1 - p.lower_outflow * root2 + p.spill_share * spill
    return np.stack([upper - spill, np.where(levels[1] >= p.height, np.minimum(lower, 0.0), lower)])


def run(
    parameters: TanksParameters, length: int, generators: Sequence[np.random.Generator]
) -> list[Trajectory]:
    """All experiments side by side, by the midpoint rule with steps of at most a second."""
    p = parameters
    u = np.stack([_pump(p, length, rng) for rng in generators], axis=1)  # (T, experiments)
    voltage = u + p.process_std * np.stack(
        [rng.standard_normal(length) for rng in generators], axis=1
    )
    noise = p.output_std * np.stack([rng.standard_normal(length) for rng in generators], axis=1)
    substeps = int(np.ceil(p.dt))
    step = p.dt / substeps
    levels = np.empty((length, 2, len(generators)))
    levels[0] = np.stack([rng.uniform(0.2, 0.7, size=2) for rng in generators], axis=1) * p.height
    for t in range(length - 1):
        now = levels[t]
        for _ in range(substeps):
            half = np.clip(now + 0.5 * step * rates(p, now, voltage[t]), 0.0, p.height)
            now = np.clip(now + step * rates(p, half, voltage[t]), 0.0, p.height)
        levels[t + 1] = now
    y = np.minimum(levels[:, 1] + noise, p.sensor_limit)
    named: dict[str, Any] = {"input_names": ["pump"], "output_names": ["level"]}
    return [
        Trajectory(Record(u[:, i], y[:, i], p.dt, **named), levels[:, :, i])
        for i in range(len(generators))
    ]


def _pump(p: TanksParameters, length: int, rng: np.random.Generator) -> np.ndarray:
    """A sum of sines of equal power and random phase below the bandwidth.

    A pump does not run backwards.
    """
    duration = length * p.dt
    lines = max(1, int(p.pump_bandwidth * duration))
    frequencies = np.arange(1, lines + 1) / duration
    phases = rng.uniform(0.0, 2.0 * np.pi, size=lines)
    time = np.arange(length) * p.dt
    wave = np.zeros(length)
    for frequency, phase in zip(frequencies, phases, strict=True):
        wave += np.cos(2.0 * np.pi * frequency * time + phase)
    return np.maximum(p.pump_mean + p.pump_std * np.sqrt(2.0 / lines) * wave, 0.0)


TANKS = System(
    "tanks_sim",
    "Cascaded tanks with overflow (simulated): pump voltage to the lower tank's level",
    TanksParameters,
    run=run,
    batch=64,
)
