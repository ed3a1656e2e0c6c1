"""Three graphs of standard operators: `start`, `step`, and `run` with the loop inside.

A state is an array (M, Dx, S): members, states, trajectories. Inputs and outputs are in physical
units and have their identifiers as names. With trajectories the step has a whole number `time`
beside the state, from which it takes the noise of the fixed set (`export/draws.py`), and where the
band knows what training has shown, how `far` outside of it the run has been.
"""

import json
from typing import NamedTuple

import numpy as np
import onnx

from prssm.export import draws as drawing
from prssm.export import reference
from prssm.export.description import Column, Description, Member
from prssm.export.draws import HASH, TABLE_BITS, Draws
from prssm.export.onnx import outside
from prssm.export.onnx.builder import Builder, model_of

_WORD = 1 << 32


class Graphs(NamedTuple):
    """The models that onnxruntime loads."""

    start: onnx.ModelProto
    step: onnx.ModelProto
    run: onnx.ModelProto


def graphs_of(description: Description, *, samples: int, seed: int, kind: type) -> Graphs:
    """The graphs of a description in single or double precision; `samples=0`: the mean alone."""
    draws = drawing.fixed(description, samples, seed) if samples else None
    about = {
        "inputs": json.dumps({c.identifier: c.name for c in description.inputs}),
        "outputs": json.dumps({c.identifier: c.name for c in description.outputs}),
        "window": str(description.window),
        "stride": str(description.stride),
        "dt": str(description.dt),
        "trajectories": str(samples),
    }
    return Graphs(
        *(
            model_of(make(description, draws, kind), about)
            for make in (start_graph, step_graph, run_graph)
        )
    )


def step_graph(description: Description, draws: Draws | None, kind: type) -> onnx.GraphProto:
    """(state, time, far, inputs..) -> (next_state, next_time, next_far, outputs.., stds..)."""
    g = Builder(kind)
    columns = [column.identifier for column in description.inputs]
    u = _scaled(g, columns, description.inputs) if columns else None
    following = _advanced(g, description, draws, u=u)
    g.named(following, "next_state")
    if draws is not None:
        g.named(g.add("time", g.whole(1)), "next_time")
    inputs = _carried(g, description, draws)
    inputs += [g.value(name, []) for name in columns]
    told = told_names(description, draws)
    outputs = [*_carried(g, description, draws, "next_"), *(g.value(name, []) for name in told)]
    return g.graph("step", inputs, outputs)


def _carried(
    g: Builder, description: Description, draws: Draws | None, prefix: str = ""
) -> list[onnx.ValueInfoProto]:
    """What a step hands on to the next one."""
    found = [g.value(f"{prefix}state", _shape(description, draws))]
    if draws is not None:
        found.append(g.whole_value(f"{prefix}time"))
        if description.seen is not None:
            found.append(g.value(f"{prefix}far", []))
    return found


def run_graph(description: Description, draws: Draws | None, kind: type) -> onnx.GraphProto:
    """The same over T steps: inputs.. and outputs.. have as many values."""
    g = Builder(kind)
    inputs = _carried(g, description, draws)
    ends = _carried(g, description, draws, "next_")
    columns = [column.identifier for column in description.inputs]
    told = told_names(description, draws)
    body = step_graph(description, draws, kind)
    lengths: list[str] = []
    if not columns:  # a loop needs something to go over
        lengths = ["steps_to_run"]
        body.input.append(g.value("steps_to_run", []))
    g.node(
        "Scan",
        *(value.name for value in inputs),
        *columns,
        *lengths,
        outputs=[*(value.name for value in ends), *told],
        body=body,
        num_scan_inputs=len(columns) + len(lengths),
    )
    inputs += [g.value(name, ["steps"]) for name in (*columns, *lengths)]
    return g.graph("run", inputs, [*ends, *(g.value(name, ["steps"]) for name in told)])


def start_graph(description: Description, draws: Draws | None, kind: type) -> onnx.GraphProto:
    """(y, u) -> state, from the first samples (L, Dy) and (L, Du)."""
    g = Builder(kind)
    window = description.window
    samples = []
    inputs = []
    for name, columns in (("y", description.outputs), ("u", description.inputs)):
        if not columns:  # a reshape would take its size 0 for another word
            continue
        inputs.append(g.value(name, [window, len(columns)]))
        means = g.number([column.mean for column in columns])
        stds = g.number([column.std for column in columns])
        scaled = g.node("Div", g.subtract(name, means), stds)
        samples.append(g.shaped(scaled, [window * len(columns), 1]))
    sample = g.node("Concat", *samples, axis=0)
    states = []
    for index, member in enumerate(description.members):
        mean, factor = _first_state(g, member, sample)
        if draws is not None:
            mean = g.add(mean, g.product(factor, g.number(draws.first[index])))
        share = 1 if draws is None else draws.share
        states.append(g.shaped(mean, [1, description.states, share]))
    g.named(g.node("Concat", *states, axis=0), "state")
    return g.graph("start", inputs, [g.value("state", _shape(description, draws))])


def _first_state(g: Builder, member: Member, sample: str) -> tuple[str, str]:
    """Mean (Dx, 1) and covariance factor (Dx, Dx) of a member's first state."""
    net = member.recognition
    if net is None:
        return g.number(member.prior_mean[:, None]), g.number(member.prior_factor)
    weighted = g.product(g.number(net.hidden_weight), sample)
    hidden = g.node("Tanh", g.add(weighted, g.number(net.hidden_bias[:, None])))
    direct = g.product(g.number(net.direct), sample)
    mean = g.add(direct, g.number(net.direct_bias[:, None]))
    mean = g.add(mean, g.product(g.number(net.mean_weight), hidden))
    if net.factor is not None:
        return mean, g.number(net.factor)
    log_std = g.product(g.number(net.log_std_weight), hidden)
    std = g.node("Exp", g.add(log_std, g.number(net.log_std_bias[:, None])))
    return mean, g.multiply(std, g.number(np.eye(len(member.prior_mean))))


def told_names(description: Description, draws: Draws | None) -> list[str]:
    """Outputs, and with trajectories their deviations."""
    names = [column.identifier for column in description.outputs]
    return names if draws is None else [*names, *(f"{name}_std" for name in names)]


def _shape(description: Description, draws: Draws | None) -> list[int]:
    share = 1 if draws is None else draws.share
    return [len(description.members), description.states, share]


def _scaled(g: Builder, names: list[str], columns: tuple[Column, ...]) -> str:
    """Inputs as (Du, 1) in scaled units."""
    parts = [
        g.shaped(g.node("Div", g.subtract(name, g.number(c.mean)), g.number(c.std)), [1, 1])
        for name, c in zip(names, columns, strict=True)
    ]
    return g.node("Concat", *parts, axis=0)


def _advanced(g: Builder, description: Description, draws: Draws | None, *, u: str | None) -> str:
    """The next states; the outputs of the present ones get their names."""
    members = description.members
    count, _, share = _shape(description, draws)
    xu = "state"
    if u is not None:
        wide = g.node("Expand", u, g.whole([count, len(description.inputs), share]))
        xu = g.node("Concat", "state", wide, axis=1)
    _tell(g, description, draws, xu=xu, u=u)
    mean = _prior_mean(g, description, xu)
    if description.points == 0:
        return mean
    k = _covariances(g, description, xu)
    weights = [member.alpha[..., None] for member in members]
    if draws is not None:
        weights = [
            reference.drawn_weights(member, draws, index) for index, member in enumerate(members)
        ]
    following = g.add(mean, g.sum(g.multiply(g.number(np.stack(weights)), k), 2))
    if draws is None:
        return following
    std = g.node("Sqrt", _variance(g, description, k))
    return g.add(following, g.multiply(std, _noise(g, description, draws)))


def _prior_mean(g: Builder, description: Description, xu: str) -> str:
    """Its linear part, and what its neurons add."""
    members = description.members
    mean = _affine(g, xu, [m.mean_weight for m in members], [m.mean_bias for m in members])
    if description.neurons == 0:
        return mean
    before = _affine(g, xu, [m.neuron_weight for m in members], [m.neuron_bias for m in members])
    out = g.number(np.stack([member.neuron_out for member in members]))
    return g.add(mean, g.product(out, g.node("Tanh", before)))


def _covariances(g: Builder, description: Description, xu: str) -> str:
    """k(zeta, xu) as (M, K, P, S)."""
    members = description.members
    zeta = np.stack([member.zeta for member in members])
    scale = np.stack([member.lengthscale for member in members])[:, :, None, :, None]
    variance = np.stack([member.signal_var for member in members])[:, :, None, None]
    here = g.node("Unsqueeze", xu, g.whole([1, 2]))
    apart = g.node("Div", g.subtract(g.number(zeta[..., None]), here), g.number(scale))
    squared = g.sum(g.square(apart), 3)
    return g.multiply(g.number(variance), _PROFILES[description.kernel](g, squared))


def _variance(g: Builder, description: Description, k: str) -> str:
    members = description.members
    a = g.product(g.number(np.stack([member.white for member in members])), k)
    signal = g.number(np.stack([member.signal_var for member in members])[:, :, None])
    process = np.stack([member.process_std for member in members])[:, :, None]
    unsaid = g.node("Max", g.subtract(signal, g.sum(g.square(a), 2)), g.number(0.0))
    total = g.add(unsaid, g.number(process**2))
    if description.draws == "step":
        factors = np.stack([np.swapaxes(member.v_factor, 1, 2) for member in members])
        total = g.add(total, g.sum(g.square(g.product(g.number(factors), a)), 2))
    return total


def _noise(g: Builder, description: Description, draws: Draws) -> str:
    """The normal numbers (M, Dx, S) of the fixed set at step `time`: a hash, then a table."""
    count, states, share = _shape(description, draws)
    places = np.arange(count * share * states).reshape(count, share, states)
    start = g.multiply("time", g.whole(count * share * states))
    value = g.node("Mod", g.add(start, g.whole(np.swapaxes(places, 1, 2))), g.whole(_WORD))
    for shift, factor in HASH:
        value = g.multiply(_mixed(g, value, shift), g.whole(factor))
        value = g.node("Mod", value, g.whole(_WORD))
    value = g.node("Div", _mixed(g, value, 16), g.whole(1 << (32 - TABLE_BITS)))
    return g.node("Gather", g.number(drawing.quantile_table()), value)


def _mixed(g: Builder, value: str, shift: int) -> str:
    """value ^ (value >> shift), of whole numbers that are not negative."""
    return g.node("BitwiseXor", value, g.node("Div", value, g.whole(1 << shift)))


def _tell(
    g: Builder, description: Description, draws: Draws | None, *, xu: str, u: str | None
) -> None:
    """Mean and deviation of each output over all trajectories, under their names."""
    members = description.members
    count, _, share = _shape(description, draws)
    total = count * share
    seen = _affine(g, xu, [m.emission_weight for m in members], [m.emission_bias for m in members])
    mean = g.node("ReduceMean", seen, g.whole([0, 2]), keepdims=1)
    stds = g.number([column.std for column in description.outputs])
    means = g.number([column.mean for column in description.outputs])
    flat = g.shaped(mean, [len(description.outputs)])
    _name_each(g, g.add(g.multiply(flat, stds), means), told_names(description, None))
    if draws is None:
        return
    squares = g.square(g.subtract(seen, mean))
    spread = g.node("ReduceSum", squares, g.whole([0, 2]), keepdims=0)
    variance = g.node("Div", spread, g.number(total - 1.0))
    std = g.node("Sqrt", g.add(variance, g.number(description.noise_var)))
    if description.seen is not None:
        std = g.multiply(std, outside.widened(g, description.seen, u=u, mean=flat))
    factors = description.physical_spreads(np.ones(len(description.outputs)))
    names = told_names(description, draws)[len(description.outputs) :]
    _name_each(g, g.multiply(std, g.number(factors)), names)


def _name_each(g: Builder, vector: str, names: list[str]) -> None:
    for index, name in enumerate(names):
        g.node("Gather", vector, g.whole(index), outputs=[name])


def _affine(g: Builder, xu: str, weights: list[np.ndarray], biases: list[np.ndarray]) -> str:
    turned = g.product(g.number(np.stack(weights)), xu)
    return g.add(turned, g.number(np.stack(biases)[:, :, None]))


def _squared_exponential(g: Builder, squared: str) -> str:
    return g.node("Exp", g.multiply(squared, g.number(-0.5)))


def _matern32(g: Builder, squared: str) -> str:
    r = g.node("Sqrt", g.multiply(squared, g.number(3.0)))
    decay = g.node("Exp", g.node("Neg", r))
    return g.multiply(g.add(g.number(1.0), r), decay)


def _matern52(g: Builder, squared: str) -> str:
    r = g.node("Sqrt", g.multiply(squared, g.number(5.0)))
    decay = g.node("Exp", g.node("Neg", r))
    polynomial = g.add(g.add(g.number(1.0), r), g.multiply(g.square(r), g.number(1.0 / 3.0)))
    return g.multiply(polynomial, decay)


# The kernels of `export/profiles.py`; a test compares them.
_PROFILES = {
    "squared-exponential": _squared_exponential,
    "matern32": _matern32,
    "matern52": _matern52,
}
