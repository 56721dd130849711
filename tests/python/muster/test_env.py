"""The environment: Gymnasium's own checks, determinism, and that playing well pays."""

import threading
import warnings

import numpy as np
import pytest

import muster
from muster.env import SchedulingEnv, VectorSchedulingEnv

SETTINGS = {"generate": "poisson:jobs=60,load=1.2", "cluster": "2x8"}


def play(env, choose, seed):
    observation, _ = env.reset(seed=seed)
    total, over, decisions = 0.0, False, 0
    while not over:
        observation, reward, over, _, info = env.step(choose(observation, env))
        total += reward
        decisions += 1
    return total, info["figures"], decisions


def first(observation, env):
    return int(env.action_masks().argmax())


def shortest(observation, env):
    jobs = observation[:env.window * 5].reshape(env.window, 5)
    lengths = np.where(jobs[:, 4] > 0, jobs[:, 3], 2.0)
    return int(lengths.argmin()) if (jobs[:, 4] > 0).any() else env.window


def test_gymnasium_checker():
    from gymnasium.utils.env_checker import check_env
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not wrapped.*|.*spec.*|.*render.*")
        check_env(SchedulingEnv(**SETTINGS), skip_render_check=True)


def test_episodes_repeat():
    env = SchedulingEnv(**SETTINGS)
    one = play(env, first, 3)
    assert play(env, first, 3) == one
    assert play(env, first, 4)[0] != one[0]
    assert one[1]["finished"] == 60


def test_reward_is_the_sum_of_completion_times():
    env = SchedulingEnv(**SETTINGS, reward_scale=1.0)
    total, figures, _ = play(env, first, 7)
    assert -total == pytest.approx(figures["avg_jct_s"] * figures["finished"], rel=1e-9)


def test_playing_well_pays():
    env = SchedulingEnv(**SETTINGS)
    fifo = np.mean([play(env, first, seed)[1]["avg_jct_s"] for seed in range(5)])
    sjf = np.mean([play(env, shortest, seed)[1]["avg_jct_s"] for seed in range(5)])
    assert sjf < fifo


def test_always_waiting_ends_too():
    env = SchedulingEnv(**SETTINGS)
    assert play(env, lambda observation, env: env.window, 1)[1]["finished"] == 60


def test_over_is_over():
    env = SchedulingEnv(**SETTINGS)
    play(env, first, 1)
    with pytest.raises(muster.Error, match="reset"):
        env.step(0)


def test_actions_that_do_not_exist():
    env = SchedulingEnv(**SETTINGS, window=4)
    env.reset(seed=1)
    for action in (-1, 5, 10**9):
        with pytest.raises(muster.Error, match=f"action {action}: expected 0 to 4"):
            env.step(action)
    vector = VectorSchedulingEnv(2, **SETTINGS, window=4)
    vector.reset(seed=1)
    with pytest.raises(muster.Error, match="action 5: expected 0 to 4"):
        vector.step([0, 5])
    vector.step([0, 4])
    with pytest.raises(muster.Error, match="num_envs is 0"):
        VectorSchedulingEnv(0, **SETTINGS)


def test_fixed_trace(trace):
    env = SchedulingEnv(trace, "8x8")
    one, two = play(env, first, 1), play(env, first, 2)
    assert one == two and one[1]["finished"] == len(trace)


def test_vector():
    single = SchedulingEnv(**SETTINGS)
    vector = VectorSchedulingEnv(3, **SETTINGS)
    observations, _ = vector.reset(seed=[11, 12, 13])
    expected, _ = single.reset(seed=12)
    np.testing.assert_array_equal(observations[1], expected)
    ends = 0
    for _ in range(400):
        actions = vector.action_masks().argmax(axis=1)
        observations, rewards, over, truncated, _ = vector.step(actions)
        ends += over.sum()
        assert observations.shape == (3, vector.single_observation_space.shape[0]) and not truncated.any()
    assert ends >= 3
    with pytest.raises(muster.Error, match="one action"):
        vector.step(np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize("settings, message", [
    ({"window": 0}, "window is 0"), ({"window": 1.5}, "window is 1.5"), ({"latency": -1}, "latency is -1"),
    ({"latency": float("nan")}, "latency is nan"),
])
def test_bad_settings(settings, message):
    with pytest.raises(muster.Error, match=message):
        SchedulingEnv(**SETTINGS, **settings)


def test_seeds_of_the_wrong_number():
    with pytest.raises(muster.Error, match="expected one seed, or one for each of 2 environments"):
        VectorSchedulingEnv(2, **SETTINGS).reset(seed=[1, 2, 3])


def test_before_the_first_reset():
    env = SchedulingEnv(generate="poisson:jobs=20", cluster="2x8")
    for call in (env.figures, lambda: env.step(0), lambda: env._core.now):
        with pytest.raises(muster.Error, match=r"call reset\(\) first"):
            call()
    env.reset(seed=1)
    assert "finished" in env.figures()


def test_two_threads_in_one_environment():
    envs = VectorSchedulingEnv(4, generate="poisson:jobs=20000,load=3", cluster="2x8")
    envs.reset(seed=1)
    refused = []

    def play():
        for _ in range(3000):
            try:
                envs.step([0] * 4)
            except muster.Error as error:
                refused.append(str(error))
    threads = [threading.Thread(target=play) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("in use by another thread" in one for one in refused)
    assert envs.step([0] * 4)[0].shape == (4, envs.single_observation_space.shape[0])


@pytest.mark.parametrize("settings, message", [
    ({"scheduling": "laz"}, "the agent is the scheduling policy"),
    ({"generate": "poison:jobs=3"}, "did you mean 'poisson'"),
    ({"cluster": None}, "no cluster"),
    ({"cluster": "2y8"}, "2y8"),
    ({"render_mode": "human"}, "nothing is drawn"),
    ({"reward_scale": float("nan")}, "reward_scale is nan"),
    ({"window": 2**62}, "window is"),
    ({"window": "4"}, "window is '4'"),
])
def test_said_when_it_is_made(settings, message):
    with pytest.raises(muster.Error, match=message):
        SchedulingEnv(**{"generate": "poisson:jobs=20", "cluster": "2x8", **settings})
    with pytest.raises(muster.Error, match="num_envs is 1.5"):
        VectorSchedulingEnv(1.5, generate="poisson:jobs=20", cluster="2x8")


def test_figures_of_vectors():
    """As Gymnasium's own vector of single environments has them."""
    settings = {"generate": "poisson:jobs=20,load=1.2", "cluster": "2x8"}
    envs = VectorSchedulingEnv(2, **settings)
    envs.reset(seed=[3, 4])
    alone = SchedulingEnv(**settings)
    alone.reset(seed=3)
    over, mine = False, None
    while mine is None:
        _, _, ends, _, infos = envs.step([0, 0])
        if not over:
            _, _, over, _, info = alone.step(0)
        assert set(infos) == ({"figures", "_figures"} if ends.any() else set())
        if ends[0]:
            assert over and infos["_figures"].tolist() == ends.tolist()
            mine = infos["figures"]["avg_jct_s"][0]
    assert mine == info["figures"]["avg_jct_s"]
