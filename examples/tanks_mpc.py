"""Model-predictive control of two tanks by a learnt model, with do-mpc, beside a tuned PI.

    pip install 'prssm[mpc]'
    python examples/tanks_mpc.py            # some minutes; --quick: some seconds

The controller sees noisy levels alone. The state comes from the last samples by the model's own
recognition; what the model errs at the present is taken to last. With trajectories the level plus
two deviations of the band must stay below the limit, without the level alone; each trajectory has
the noise of the process, the same numbers at every decision. The PI is tuned by
Skogestad's rule from a step response of the true plant.
"""

import sys
import time
import warnings
from dataclasses import dataclass

import casadi
import numpy as np
from tanks import DT, PUMP, Tanks, learnt

import prssm

HORIZON = 20
LIMIT = 6.5  # a level not to be passed, though targets are above it at times
REST = 2.6  # volts before the controller begins


@dataclass
class Outcome:
    """How one controller did on the true plant."""

    name: str
    levels: np.ndarray
    targets: np.ndarray
    inputs: np.ndarray
    seconds: np.ndarray  # of each decision, on one core

    @property
    def error(self) -> float:
        """Root mean square of level minus target, as far as the limit allows it."""
        allowed = np.minimum(self.targets, LIMIT)
        return float(np.sqrt(np.mean((self.levels - allowed) ** 2)))

    @property
    def passed(self) -> float:
        """Share of the samples above the limit."""
        return float(np.mean(self.levels > LIMIT))


class Pi:
    """u = K (e + integral of e / Ti), held within the pump's range without winding up."""

    def __init__(self) -> None:
        self.gain, self.reset = simc()
        self._integral = REST

    def decide(self, history: "History", target: float) -> float:
        error = min(target, LIMIT) - history.levels[-1]
        wanted = self.gain * error + self._integral
        given = float(np.clip(wanted, *PUMP))
        if given == wanted:
            self._integral += self.gain * DT / self.reset * error
        return given


def simc() -> tuple[float, float]:
    """K and Ti by Skogestad's rule, from the answer of the plant to half a volt.

    The answer is taken as first order with delay, through its points at 28 and 63 %.
    """
    plant = Tanks(start=(REST**2, (REST / 1.1) ** 2))
    for _ in range(200):
        plant.apply(REST)
    begin = plant.level
    levels = []
    for _ in range(300):
        plant.apply(REST + 0.5)
        levels.append(plant.level)
    rise = np.mean(levels[-50:]) - begin
    at28, at63 = (DT * (1 + np.argmax(np.array(levels) - begin > p * rise)) for p in (0.283, 0.632))
    constant = 1.5 * (at63 - at28)
    delay = max(at63 - constant, DT / 2.0)
    gain = constant / (rise / 0.5 * 2.0 * delay)
    return gain, min(constant, 8.0 * delay)


class History:
    """What a controller has seen: levels and inputs, the latest last."""

    def __init__(self) -> None:
        self.levels: list[float] = []
        self.inputs: list[float] = []


class Mpc:
    """The learnt model in do-mpc."""

    def __init__(self, model: prssm.PRSSM, samples: int, horizon: int = HORIZON) -> None:
        """With trajectories the limit holds for the band, without for the mean."""
        self._functions = prssm.as_casadi(model, samples=samples)
        self._noise = self._functions.noise(horizon + 1)
        self._window = model.warmup
        self._horizon = horizon
        self._target = 0.0
        self._error = 0.0
        self._controller = self._build(chance=samples > 0)

    def _build(self, chance: bool) -> object:
        import do_mpc

        step = self._functions.step
        model = do_mpc.model.Model("discrete")
        state = model.set_variable("_x", "state", (step.size1_in("state"), 1))
        pump = model.set_variable("_u", "pump")
        model.set_variable("_tvp", "target")
        error = model.set_variable("_tvp", "error")
        drawn = {}
        if chance:
            drawn["noise"] = model.set_variable("_tvp", "noise", (len(self._noise), 1))
        made = step(state=state, pump=pump, **drawn)
        model.set_rhs("state", made["next_state"])
        model.set_expression("level", made["level"] + error)
        model.set_expression("std", made["level_std"] if chance else 0.0 * state[0])
        model.setup()
        level = model.aux["level"]
        mpc = do_mpc.controller.MPC(model)
        mpc.set_param(
            n_horizon=self._horizon,
            t_step=DT,
            store_full_solution=False,
            nlpsol_opts={"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"},
        )
        mpc.set_objective(mterm=casadi.DM(0.0), lterm=(level - model.tvp["target"]) ** 2)
        mpc.set_rterm(pump=0.05)
        mpc.bounds["lower", "_u", "pump"] = PUMP[0]
        mpc.bounds["upper", "_u", "pump"] = PUMP[1]
        above = level + 2.0 * model.aux["std"] - LIMIT
        mpc.set_nl_cons("limit", above, ub=0.0, soft_constraint=True, penalty_term_cons=1e3)
        template = mpc.get_tvp_template()

        def ahead(_: float) -> object:
            for k in range(self._horizon + 1):
                template["_tvp", k, "target"] = self._target
                template["_tvp", k, "error"] = self._error
                if chance:
                    template["_tvp", k, "noise"] = self._noise[:, k]
            return template

        mpc.set_tvp_fun(ahead)
        mpc.setup()
        mpc.set_initial_guess()
        return mpc

    def decide(self, history: History, target: float) -> float:
        window = self._window
        levels = np.array(history.levels[-window - 1 :])
        inputs = np.array(history.inputs[-window:])
        state = self._functions.start(y=levels[:window], u=inputs)["state"]
        for at in range(window):  # from the first of these samples to the present
            made = self._functions.step(state=state, pump=inputs[at])
            state = made["next_state"]
        now = self._functions.step(state=state, pump=inputs[-1])["level"]
        self._error = 0.7 * self._error + 0.3 * (levels[-1] - float(now))
        self._target = target  # what is asked for later it does not know
        self._controller.x0 = state
        return float(np.asarray(self._controller.make_step(state)).item())


def control(name: str, controller: Pi | Mpc, targets: np.ndarray, warmup: int = 17) -> Outcome:
    """A controller on the true plant, after some samples at rest."""
    plant = Tanks(seed=1, start=(REST**2, (REST / 1.1) ** 2))
    history = History()
    levels = []
    seconds = []
    for at in range(warmup + len(targets)):
        history.levels.append(plant.measure())
        begin = time.process_time()
        given = REST if at < warmup else controller.decide(history, targets[at - warmup])
        if at >= warmup:
            seconds.append(time.process_time() - begin)
            levels.append(plant.level)
        history.inputs.append(given)
        plant.apply(given)
    inputs = np.array(history.inputs[warmup:])
    return Outcome(name, np.array(levels), targets, inputs, seconds=np.array(seconds))


def main(quick: bool = False) -> list[Outcome]:
    model = learnt(quick)
    targets = np.full(20, 4.5) if quick else np.repeat([7.2, 5.0, 7.5, 4.2], 50)
    samples = 4 if quick else 16
    horizon = 10 if quick else HORIZON
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # do-mpc and CasADi talk about each other's versions
        outcomes = [
            control("PI", Pi(), targets),
            control("MPC, mean", Mpc(model, 0, horizon), targets),
            control("MPC, chance constraint", Mpc(model, samples, horizon), targets),
        ]
    for one in outcomes:
        print(
            f"{one.name:24} error {one.error:.3f}  above the limit {one.passed:.1%}  "
            f"a decision {1e3 * np.median(one.seconds):.1f} ms"
        )
    return outcomes


if __name__ == "__main__":
    main("--quick" in sys.argv)
