"""The public recordings: what each is, and how its file becomes Records.

An entry says where it comes from and how it is split.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.data.sets.data_set import DataSet, Part
from prssm.data.sets.download import DataFile

Paths = list[Path]

RGP = "https://raw.githubusercontent.com/zhenwendai/RGP/master/datasets/system_identification/"
CED_ZIP = (
    "https://www.it.uu.se/research/publications/reports/2017-024/"
    "CoupledElectricDrivesDataSetAndReferenceModels.zip"
)
TANKS_ZIP = (
    "https://data.4tu.nl/file/d4810b78-6cdd-48fe-8950-9bd601e5f47f/"
    "3b697e42-01a4-4979-a370-813a456c36f5"
)
EMPS_ZIP = "https://drive.google.com/uc?export=download&id=1zwoXYa9-3f8NQ0ohzmjpF7UxbNgRTHkS"

PUBLIC: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            "actuator",
            "Hydraulic actuator: valve opening to oil pressure",
            "Sjöberg et al. 1995, through zhenwendai/RGP",
            split="rows 1-512 train, 513-1024 test",
            dt=None,
            files=(
                DataFile(
                    "actuator.mat",
                    "35d1f95176afd856eb4fe0e2f87e3dff39657db8e6fcf7c531078c8f4eb571e4",
                    RGP + "actuator.mat",
                ),
            ),
            lags=10,
            note="The sampling time is not published.",
        ),
        DataSet(
            "ballbeam",
            "Ball on a beam: beam angle to ball position",
            "DaISy, KU Leuven, through zhenwendai/RGP",
            split="rows 1-500 train, 501-1000 test",
            dt=0.1,
            files=(
                DataFile(
                    "ballbeam.dat",
                    "e9c48a4f7474953969d4950b4ef72558084b1995f776792ac0cbc80550e6ff42",
                    RGP + "ballbeam.dat",
                ),
            ),
            lags=10,
        ),
        DataSet(
            "drives",
            "Coupled electric drives: motor voltage to the magnitude of the pulley's speed",
            "Wigren and Schoukens 2017 (first PRBS series), through zhenwendai/RGP",
            split="rows 1-250 train, 251-500 test",
            dt=0.02,
            files=(
                DataFile(
                    "drive.mat",
                    "47d0825678d854d8a1bbcfb0ad1188026b853f69beb2067ea00cfd88d13dc4ca",
                    RGP + "drive.mat",
                ),
            ),
            lags=10,
            note="The sensor loses the sign of the speed.",
        ),
        DataSet(
            "furnace",
            "Gas furnace: gas rate to CO2 concentration",
            "Box and Jenkins, series J, through zhenwendai/RGP",
            split="rows 1-148 train, 149-296 test",
            dt=9.0,
            files=(
                DataFile(
                    "gas_furnace.csv",
                    "ce46e11490a11ac254a959d42d5858f66b3c8013a1b667e553b3d890c67e4d43",
                    RGP + "gas_furnace.csv",
                ),
            ),
            lags=3,
        ),
        DataSet(
            "dryer",
            "Hair dryer: heater power to air temperature",
            "DaISy, KU Leuven, through zhenwendai/RGP",
            split="rows 1-500 train, 501-1000 test",
            dt=0.08,
            files=(
                DataFile(
                    "dryer.dat",
                    "adcb2f5a1d9e174d08dd49f7f037626745b5e69cbda0bc1e8dca2a7c687d4538",
                    RGP + "dryer.dat",
                ),
            ),
            lags=2,
        ),
        DataSet(
            "sarcos",
            "Sarcos arm: seven joint torques to seven joint positions",
            "Rasmussen and Williams, www.gaussianprocess.org/gpml/data",
            split="66 experiments of 674 rows at 100 Hz, every second row kept (337); experiments "
            "0-59 train, 60-65 test",
            dt=0.02,
            files=(
                DataFile(
                    "sarcos_inv.mat", "", "https://www.gaussianprocess.org/gpml/data/sarcos_inv.mat"
                ),
                DataFile(
                    "sarcos_inv_reconstructed.npz",
                    "2f11b612f0bf2ea345fea4bad57104534aa6261e37a01bc622bfc0495aaafd41",
                ),
            ),
            note="Either file serves; without the published one the reconstruction is used: exact "
            "torques, but only 55.6 % of "
            "the position rows are real, the rest interpolated (see measured_rows). Say "
            "'reconstructed' with its results.",
        ),
        DataSet(
            "barrett",
            "Barrett WAM arm: seven joint torques to seven joint positions",
            "Nguyen-Tuong and Peters, IAS, TU Darmstadt",
            split="rows 1-12000 of the restored record train, 12001-15000 test",
            dt=0.02,
            files=(
                DataFile(
                    "robots/ias_real_barrett_data.mat",
                    "b54be76cc0757fa7b4b943ef24fd3f080223037bf3f3527ee5a59f023686a346",
                ),
            ),
            note="The published parts interleave: X_test is every fifth row of one 50 Hz record "
            "and X_train the other four, "
            "so each part alone has gaps. The record is put back in time order and split in time "
            "instead.",
        ),
        DataSet(
            "cascaded_tanks",
            "Cascaded tanks with overflow: pump voltage to the lower tank's level",
            "Schoukens and Noel, nonlinearbenchmark.org",
            split="uEst/yEst train, uVal/yVal test (1024 rows each)",
            dt=4.0,
            files=(
                DataFile(
                    "cascaded_tanks/dataBenchmark.csv",
                    "ef2388ed822f3aef4aa80d6b0f2b466dd80b361786b3eafc7a2957c31ea323a7",
                    TANKS_ZIP,
                ),
            ),
            unscored=50,
        ),
        DataSet(
            "ced",
            "Coupled electric drives, uniform inputs: voltage to the magnitude of the pulley's "
            "speed",
            "Wigren and Schoukens 2017, nonlinearbenchmark.org",
            split="rows 1-400 of each of two series train, 401-500 test",
            dt=0.02,
            files=(
                DataFile(
                    "ced/DATAUNIF.csv",
                    "9114f637f22ca826f03f066270cf68bd8cad686739a7fa4b471c14ccdbf66889",
                    CED_ZIP,
                ),
            ),
            unscored=10,
        ),
        DataSet(
            "emps",
            "Electro-mechanical positioning system: motor force to load position",
            "Janot, Gautier and Brunot 2019, nonlinearbenchmark.org",
            split="DATA_EMPS trains, DATA_EMPS_PULSES tests (24841 rows each)",
            dt=0.001,
            files=(
                DataFile(
                    "emps/DATA_EMPS.mat",
                    "6cf6814ae14618795da0101aae2bb97ff0c6351b0501b5492751b02b07facf7e",
                    EMPS_ZIP,
                ),
                DataFile(
                    "emps/DATA_EMPS_PULSES.mat",
                    "0eab75bb1f6b16228ee78791343a88bf9bfd9a51036ac9807d7b5fc11c0e1704",
                    EMPS_ZIP,
                ),
            ),
            unscored=20,
            note="Measured in closed loop, because the plant integrates.",
        ),
    )
}


def _mat(path: Path) -> dict[str, np.ndarray]:
    from scipy.io import loadmat

    return loadmat(path)


def _halves(
    name: str, u: np.ndarray, y: np.ndarray, rows: int, names: tuple[str, str]
) -> tuple[Part, Part]:
    """The paper's split: the first `rows` rows train, the rest tests."""
    named: dict[str, Any] = {
        "dt": PUBLIC[name].dt,
        "input_names": names[:1],
        "output_names": names[1:],
    }
    return (
        Record(u[:rows], y[:rows], name=f"{name} train", **named),
        Record(u[rows:], y[rows:], name=f"{name} test", **named),
    )


def _actuator(paths: Paths) -> tuple[Part, Part]:
    found = _mat(paths[0])
    return _halves("actuator", found["u"], found["p"], rows=512, names=("valve", "pressure"))


def _ballbeam(paths: Paths) -> tuple[Part, Part]:
    table = np.loadtxt(paths[0])
    return _halves("ballbeam", table[:, 0], table[:, 1], rows=500, names=("angle", "position"))


def _drives(paths: Paths) -> tuple[Part, Part]:
    found = _mat(paths[0])
    return _halves("drives", found["u1"], found["z1"], rows=250, names=("voltage", "speed"))


def _furnace(paths: Paths) -> tuple[Part, Part]:
    table = np.loadtxt(paths[0], delimiter=",", skiprows=1)
    return _halves("furnace", table[:, 0], table[:, 1], rows=148, names=("gas_rate", "CO2"))


def _dryer(paths: Paths) -> tuple[Part, Part]:
    table = np.loadtxt(paths[0])
    return _halves("dryer", table[:, 0], table[:, 1], rows=500, names=("power", "temperature"))


def _barrett(paths: Paths) -> tuple[Part, Part]:
    """The two parts of the Barrett arm's recording.

    Each group of five consecutive samples is one row of the test part, then four of the training
    part.
    """
    found = _mat(paths[0])

    def in_order(test: np.ndarray, train: np.ndarray) -> np.ndarray:
        groups = np.concatenate([test[:, None], train.reshape(len(test), 4, -1)], axis=1)
        return groups.reshape(-1, groups.shape[-1])

    torque = in_order(found["Y_test"], found["Y_train"])
    position = in_order(found["X_test"], found["X_train"])[:, :7]
    record = Record(
        torque,
        position,
        PUBLIC["barrett"].dt,
        input_names=[f"torque{i}" for i in range(1, 8)],
        output_names=[f"q{i}" for i in range(1, 8)],
    )
    return record[:12000].renamed("barrett train"), record[12000:].renamed("barrett test")


def _cascaded_tanks(paths: Paths) -> tuple[Part, Part]:
    # uEst, uVal, yEst, yVal
    table = np.loadtxt(paths[0], delimiter=",", skiprows=1, usecols=range(4))
    named: dict[str, Any] = {"dt": 4.0, "input_names": ["pump"], "output_names": ["level"]}
    return (
        Record(table[:, 0], table[:, 2], name="cascaded_tanks train", **named),
        Record(table[:, 1], table[:, 3], name="cascaded_tanks test", **named),
    )


def _ced(paths: Paths) -> tuple[Part, Part]:
    table = np.loadtxt(paths[0], delimiter=",", skiprows=1, usecols=range(4))  # u11, u12, z11, z12
    named: dict[str, Any] = {"dt": 0.02, "input_names": ["voltage"], "output_names": ["speed"]}
    series = [(table[:, i], table[:, i + 2]) for i in (0, 1)]
    return (
        [
            Record(u[:400], y[:400], name=f"ced train {i}", **named)
            for i, (u, y) in enumerate(series, 1)
        ],
        [
            Record(u[400:], y[400:], name=f"ced test {i}", **named)
            for i, (u, y) in enumerate(series, 1)
        ],
    )


def _emps(paths: Paths) -> tuple[Part, Part]:
    named: dict[str, Any] = {"dt": 0.001, "input_names": ["force"], "output_names": ["position"]}
    train, test = (_mat(path) for path in paths)
    return (
        Record(train["vir"], train["qm"], name="emps train", **named),
        Record(test["vir"], test["qm"], name="emps test", **named),
    )


# Sarcos has its own file, because it may come from one of two files.
LOADERS: dict[str, Callable[[Paths], tuple[Part, Part]]] = {
    "actuator": _actuator,
    "ballbeam": _ballbeam,
    "drives": _drives,
    "furnace": _furnace,
    "dryer": _dryer,
    "barrett": _barrett,
    "cascaded_tanks": _cascaded_tanks,
    "ced": _ced,
    "emps": _emps,
}
