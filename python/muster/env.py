"""Scheduling as a Gymnasium environment.

An episode is one workload on one cluster. At each decision the agent sees the first waiting jobs and the cluster, and
picks one job to start, or waits until something happens. Picks made at the same moment are carried out together. The
reward is minus the time that jobs spend in the system meanwhile, so that an agent that collects more has a smaller
mean completion time.

>>> from muster.env import SchedulingEnv
>>> env = SchedulingEnv(generate="poisson:jobs=50", cluster="2x8")
>>> observation, info = env.reset(seed=1)
>>> over = False
>>> while not over:
...     action = int(env.action_masks().argmax())  # the first that fits: FIFO with backfilling
...     observation, reward, over, truncated, info = env.step(action)
>>> info["figures"]["finished"]
50
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core
from .run import _settings

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as _missing:
    raise ImportError("muster.env needs Gymnasium: pip install gymnasium") from _missing

__all__ = ["SchedulingEnv", "VectorSchedulingEnv", "JOB_FEATURES", "CLUSTER_FEATURES"]

#: Of each of the first waiting jobs, all from 0 to 1.
JOB_FEATURES = ("is there", "GPUs over those of the cluster", "log of its wait", "log of its length", "fits now")
#: Of the cluster, after those of the jobs.
CLUSTER_FEATURES = ("free GPUs", "waiting jobs, n/(n+10)", "running jobs, n/(n+10)", "picked jobs, n/(n+10)")


def _core_environment(trace, cluster, placement, admission, window, latency, lengths, reward_scale, settings):
    if "scheduling" in settings:
        raise _core.Error("in an environment the agent is the scheduling policy: leave scheduling out")
    choices = {"placement": placement, "admission": admission}
    described, jobs, objects = _settings(trace, cluster, choices, settings)
    if objects:
        raise _core.Error("in an environment only the agent decides: placement and admission must be built in")
    _check_whole("window", window, 1_000_000)
    if not 0 <= latency < float("inf"):
        raise _core.Error(f"latency is {latency}, but must be a number of seconds from 0 on")
    if not abs(reward_scale) < float("inf"):
        raise _core.Error(f"reward_scale is {reward_scale}, but must be a finite number")
    return _core.make_environment(described, jobs, window, latency, lengths, reward_scale)


def _check_whole(name, value, most):
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value <= most:
        raise _core.Error(f"{name} is {value!r}, but must be a whole number from 1 to {most:,}")


def _figures(core):
    return {key: value for key, value in json.loads(core.summary()).items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)}


class SchedulingEnv(gymnasium.Env):
    """One workload after the other on one cluster.

    trace, cluster, placement, admission and every other setting are those of `muster.simulate`; with
    generate="poisson:jobs=200" each reset draws another workload from its seed. window: how many waiting jobs can be
    seen and picked; action `window` waits. lengths: whether the agent sees how long jobs will run (their estimates,
    where there are some). latency: seconds from a decision to its effect.

    >>> from muster.env import SchedulingEnv
    >>> env = SchedulingEnv(generate="poisson:jobs=20", cluster="2x8", window=4)
    >>> observation, info = env.reset(seed=1)
    >>> env.action_masks().shape, observation.shape == env.observation_space.shape
    ((5,), True)
    >>> observation, reward, over, truncated, info = env.step(0)
    >>> reward <= 0, "finished" in env.figures()
    (True, True)
    """

    metadata = {"render_modes": []}

    def __init__(self, trace: Any = None, cluster: Any = None, *, placement: Any = None, admission: Any = None,
                 window: int = 16, lengths: bool = True, latency: float = 1.0, reward_scale: float = 1e-4,
                 render_mode: str | None = None, **settings: Any):
        if render_mode is not None:
            raise _core.Error(f"render_mode is {render_mode!r}, but nothing is drawn: leave it out")
        self._core = _core_environment(trace, cluster, placement, admission, window, latency, lengths, reward_scale,
                                       settings)
        self.window = window
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0.0, 1.0, (self._core.features,), np.float32)
        self.action_space = spaces.Discrete(window + 1)
        self._shape = self._core.features
        self._empty = np.empty

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """Begins an episode, up to its first decision: (observation, {}). The seed draws its workload; without one the
        next of the environment's own is taken. There are no options."""
        super().reset(seed=seed)
        observation = np.empty(self._shape, np.float32)
        self._core.reset(int(self.np_random.integers(1, 2**31)) if seed is None else int(seed), observation)
        return observation, {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Picks the waiting job at that place of the window; `window`, or a place whose job does not fit, waits until
        something happens: (observation, reward, whether the episode is over, False, info). At the end `info["figures"]`
        has the figures of the run."""
        observation = self._empty(self._shape, np.float32)
        reward, over = self._core.step(int(action), observation)
        return observation, reward, over, False, {"figures": self.figures()} if over else {}

    def action_masks(self) -> np.ndarray:
        """Whether each action means something now, as sb3-contrib's MaskablePPO asks for it."""
        return np.frombuffer(self._core.mask(), dtype=np.bool_)

    def figures(self) -> dict[str, float]:
        """The figures of the episode so far, as in muster.Result."""
        return _figures(self._core)


class VectorSchedulingEnv(gymnasium.vector.VectorEnv):
    """Several environments stepped by one call of the core. The seeds follow each other; an episode that is over
    begins anew with the next step, whose action is not looked at.

    >>> from muster.env import VectorSchedulingEnv
    >>> envs = VectorSchedulingEnv(3, generate="poisson:jobs=20", cluster="2x8", window=4)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, over, truncated, infos = envs.step([0, 0, 4])
    >>> rewards.shape, envs.action_masks().shape
    ((3,), (3, 5))
    """

    metadata = {"autoreset_mode": getattr(gymnasium.vector, "AutoresetMode", None)
                and gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int, trace: Any = None, cluster: Any = None, *, placement: Any = None,
                 admission: Any = None, window: int = 16, lengths: bool = True, latency: float = 1.0,
                 reward_scale: float = 1e-4, **settings: Any):
        _check_whole("num_envs", num_envs, 1_000_000)
        self._cores = [_core_environment(trace, cluster, placement, admission, window, latency, lengths, reward_scale,
                                         settings) for _ in range(num_envs)]
        self.num_envs = num_envs
        self.single_observation_space = spaces.Box(0.0, 1.0, (self._cores[0].features,), np.float32)
        self.single_action_space = spaces.Discrete(window + 1)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self._seeds = np.arange(1, num_envs + 1, dtype=np.int64)
        self._over = np.ones(num_envs, dtype=np.bool_)

    def reset(self, *, seed: Any = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """Begins an episode in all environments: (observations, {}). One seed, from which all are made, or one for each."""
        super().reset(seed=None if seed is None else int(np.ravel(seed)[0]))
        if seed is not None:
            given = np.asarray(seed, dtype=np.int64)
            if given.shape not in ((), (self.num_envs,)):
                raise _core.Error(f"seed has the shape {given.shape}: expected one seed, or one for each of "
                                  f"{self.num_envs} environments")
            self._seeds = given + np.arange(self.num_envs) * 1_000_003 if given.ndim == 0 else given.copy()
        self._over[:] = True
        observations, _, _, _, _ = self.step(np.zeros(self.num_envs, dtype=np.int64))
        return observations, {}

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """One action in each environment: arrays with a row for each of (observations, rewards, whether episodes are over,
        False), and infos. These have the figures of episodes that are over as Gymnasium lays them out:
        `infos["figures"]["avg_jct_s"][i]` where `infos["_figures"][i]`."""
        observations = np.empty((self.num_envs, self._cores[0].features), np.float32)
        rewards = np.empty(self.num_envs)
        _core.step_all(self._cores, np.ascontiguousarray(actions, dtype=np.int64), self._seeds, observations, rewards,
                       self._over)
        infos = {}
        for number in np.flatnonzero(self._over).tolist():
            infos = self._add_info(infos, {"figures": _figures(self._cores[number])}, number)
        return observations, rewards, self._over.copy(), np.zeros(self.num_envs, dtype=np.bool_), infos

    def action_masks(self) -> np.ndarray:
        """A row per environment."""
        return np.array([np.frombuffer(core.mask(), dtype=np.bool_) for core in self._cores])
