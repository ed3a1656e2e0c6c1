"""Rigid-body dynamics of a serial arm,  M(q) q'' + h(q, q') = tau.

For B arms at once: they are the last axis of every array.

Joint j turns link j about an axis that is fixed in the link. With the joint's position p_j, the
mass centre c_j and the axis z_j, everything is written in the base frame, so that the recursions
along the chain are cumulative sums (outward):

    w_j  = w_{j-1} + z_j q'_j                                  angular velocity
    al_j = al_{j-1} + w_j x z_j q'_j                           angular acceleration while q'' = 0
    p''_{j+1} = p''_j + al_j x d_j + w_j x (w_j x d_j)         d_j = p_{j+1} - p_j
                                                               (likewise from p_j to c_j)

A link needs the force f_j = m_j (c''_j + g) and the moment n_j = I_j al_j + w_j x I_j w_j. A joint
carries those of all links behind it (inward): h_j = z_j . sum_{l >= j} (n_l + (c_l - p_j) x f_l).
The mass matrix is that of the kinetic energy, M = sum_l m_l Jv_l' Jv_l + Jw_l' I_l Jw_l, with
columns z_j x (c_l - p_j) of Jv_l and z_j of Jw_l for j <= l.
"""

from dataclasses import dataclass

import numpy as np

GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Chain:
    """The constants of a serial arm with J links; axis j is "y" or "z" of the link's own frame."""

    axes: str
    offset: np.ndarray  # (3, J) from joint j to joint j + 1, in link j's frame
    centre: np.ndarray  # (3, J) from joint j to the mass centre of link j, in link j's frame
    mass: np.ndarray  # (J,)
    # (3, J) principal moments about the mass centre, along the axes of link j's frame
    inertia: np.ndarray
    rotor: np.ndarray  # (J,) inertia of the motor, seen at the joint


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the links are, in the base frame; vectors have the shape (3, J, B)."""

    rotation: np.ndarray  # (3, 3, J, B): rotation[:, a] is axis a of the link
    axis: np.ndarray  # z_j
    piece: np.ndarray  # p_{j+1} - p_j
    to_centre: np.ndarray  # c_j - p_j
    position: np.ndarray  # p_j
    centre: np.ndarray  # c_j


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b along the first axis."""
    return np.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a . b along the first axis."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def pose(chain: Chain, q: np.ndarray) -> Pose:
    """Orientations and positions for joint angles q (J, B)."""
    rotation = _orientations(chain, q)
    axis = np.stack(
        [rotation[:, "xyz".index(letter), j] for j, letter in enumerate(chain.axes)], axis=1
    )
    piece = _in_base(rotation, chain.offset)
    to_centre = _in_base(rotation, chain.centre)
    position = np.cumsum(piece, axis=1) - piece
    return Pose(
        rotation, axis, piece, to_centre=to_centre, position=position, centre=position + to_centre
    )


def _orientations(chain: Chain, q: np.ndarray) -> np.ndarray:
    cos = np.cos(q)
    sin = np.sin(q)
    rotation = np.empty((3, 3, *q.shape))
    x, y, z = np.broadcast_to(np.eye(3)[:, :, None], (3, 3, q.shape[1]))
    for j, letter in enumerate(chain.axes):
        c = cos[j]
        s = sin[j]
        x, y, z = (
            (c * x + s * y, c * y - s * x, z)
            if letter == "z"
            else (c * x - s * z, y, s * x + c * z)
        )
        rotation[:, 0, j] = x
        rotation[:, 1, j] = y
        rotation[:, 2, j] = z
    return rotation


def _in_base(rotation: np.ndarray, local: np.ndarray) -> np.ndarray:
    return sum(rotation[:, a] * local[a][:, None] for a in range(3))


def mass_matrix(chain: Chain, at: Pose) -> np.ndarray:
    """M(q) of shape (J, J, B), the motors' rotors on its diagonal."""
    joints = len(chain.axes)
    moves = np.tri(joints)[:, :, None]  # joint k moves link l only if k <= l
    # (3, link, joint, B)
    linear = cross(at.axis[:, None], at.centre[:, :, None] - at.position[:, None]) * moves
    # along link axes
    turning = (
        np.stack([dot(at.rotation[:, a, :, None], at.axis[:, None]) for a in range(3)]) * moves
    )
    roots = np.sqrt(chain.mass)[:, None, None], np.sqrt(chain.inertia)[:, :, None, None]
    flat = np.concatenate([roots[0] * linear, roots[1] * turning]).reshape(6 * joints, joints, -1)
    return np.einsum("nib,njb->ijb", flat, flat) + np.diag(chain.rotor)[:, :, None]


def bias(chain: Chain, at: Pose, speed: np.ndarray) -> np.ndarray:
    """h(q, q') of shape (J, B): the torques of gravity, Coriolis and centrifugal forces."""
    turning = at.axis * speed
    w = np.cumsum(turning, axis=1)
    al = np.cumsum(cross(w, turning), axis=1)
    along_piece = cross(al, at.piece) + cross(w, cross(w, at.piece))
    of_joint = np.cumsum(along_piece, axis=1) - along_piece
    acceleration = of_joint + cross(al, at.to_centre) + cross(w, cross(w, at.to_centre))
    acceleration[2] += GRAVITY
    force = chain.mass[:, None] * acceleration
    moment = _inertia_times(chain, at, al) + cross(w, _inertia_times(chain, at, w))
    carried = _sum_behind(moment + cross(at.centre, force)) - cross(at.position, _sum_behind(force))
    return dot(at.axis, carried)


def _inertia_times(chain: Chain, at: Pose, vector: np.ndarray) -> np.ndarray:
    return sum(
        at.rotation[:, a] * (chain.inertia[a][:, None] * dot(at.rotation[:, a], vector))
        for a in range(3)
    )


def _sum_behind(vectors: np.ndarray) -> np.ndarray:
    return np.cumsum(vectors[:, ::-1], axis=1)[:, ::-1]


def acceleration(chain: Chain, q: np.ndarray, speed: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """q'' of shape (J, B) under joint torques."""
    at = pose(chain, q)
    matrix = np.moveaxis(mass_matrix(chain, at), -1, 0)
    rest = (torque - bias(chain, at, speed)).T
    return np.linalg.solve(matrix, rest[..., None])[..., 0].T


def energy(chain: Chain, q: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """Kinetic plus potential energy (B,)."""
    at = pose(chain, q)
    kinetic = 0.5 * np.einsum("ib,ijb,jb->b", speed, mass_matrix(chain, at), speed)
    return kinetic + GRAVITY * chain.mass @ at.centre[2]
