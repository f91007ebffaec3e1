"""Which worker takes what."""

from __future__ import annotations

from compat.executors.dask.placement import ClusterWorker, Losses, NoEligibleWorker, Placement, WorkerInfo
from compat.executors.executor import EnvLeft


def known(name: str, host: str = "host", threads: int = 1) -> WorkerInfo:
    return WorkerInfo(address=f"tcp://{name}", name=name, host=host, threads=threads)


def placed(*workers: WorkerInfo) -> Placement:
    placement = Placement()
    placement.update(workers)
    return placement


def chosen(placement: Placement, env: str = "env", *, alone: bool = False, not_again: frozenset[str] = frozenset()) -> str | None:
    place = placement.choose(env, alone=alone, not_again=not_again)
    if place is None:
        return None
    assert isinstance(place, ClusterWorker), place
    place.in_flight += 1
    place.alone = place.alone or alone
    return place.info.name


def test_threads_that_are_free_come_before_envs_that_are_warm() -> None:
    placement = placed(known("a"), known("b"))
    placement.workers["tcp://b"].envs.add("env")
    assert [chosen(placement) for _ in range(5)] == ["b", "a", "b", "a", None]


def begun(placement: Placement, left: dict[str, int]) -> str:
    """The env that the next batch is of, once a worker has it."""
    envs = [EnvLeft(digest=name, cells=count) for name, count in left.items() if count]
    env = envs[placement.next_env(envs)].digest
    name = chosen(placement, env)
    assert name is not None
    placement.workers[f"tcp://{name}"].envs.add(env)
    left[env] -= 1
    return f"{name} {env}"


def test_workers_stay_with_an_env_until_it_has_no_batches_left() -> None:
    placement = placed(known("a"), known("b"))
    left = {"3.0": 3, "3.1": 2, "3.2": 1}
    assert [begun(placement, left) for _ in range(4)] == ["a 3.0", "b 3.1", "a 3.0", "b 3.1"]
    placement.workers["tcp://b"].in_flight -= 1
    assert begun(placement, left) == "b 3.2", "one that nobody has begun comes before one that another has"
    placement.workers["tcp://b"].in_flight -= 1
    assert begun(placement, left) == "b 3.0", "and what is left is shared"


def test_a_worker_helps_with_the_env_that_has_most_left_for_each_that_has_it() -> None:
    placement = placed(known("a"), known("b"), known("c"), known("d"))
    for name, env in (("a", "3.0"), ("b", "3.0"), ("c", "3.1")):
        placement.workers[f"tcp://{name}"].envs.add(env)
        placement.workers[f"tcp://{name}"].in_flight = 1
    assert begun(placement, {"3.0": 9, "3.1": 5}) == "d 3.1"
    assert begun(placement, {"3.0": 9, "3.1": 5}) == "a 3.0"


def test_no_env_is_begun_where_it_cannot_be_had() -> None:
    placement = placed(known("a"))
    placement.workers["tcp://a"].unable["3.0"] = "there is no Python 3.9"
    assert begun(placement, {"3.0": 2, "3.1": 2}) == "a 3.1"
    placement.workers["tcp://a"].in_flight = 0
    assert placement.next_env([EnvLeft(digest="3.0", cells=1)]) == 0, "whoever asks for a place is told why there is none"


def test_workers_with_more_threads_take_more() -> None:
    placement = placed(known("a"), known("b", threads=3))
    taken = [chosen(placement) for _ in range(9)]
    assert (taken.count("a"), taken.count("b"), taken.count(None)) == (2, 6, 1)


def test_what_may_end_a_worker_is_alone_there_and_on_its_host() -> None:
    placement = placed(known("a", "one"), known("b", "one"), known("c", "two"))
    placement.workers["tcp://a"].in_flight = 1
    assert chosen(placement, alone=True, not_again=frozenset({"two"})) == "b"
    assert chosen(placement, alone=True) == "c", "not on a host with another such"
    assert chosen(placement, alone=True) is None
    assert [chosen(placement) for _ in range(2)] == ["a", None], "nothing else goes to those"


def test_nobody_can_have_an_env() -> None:
    placement = placed(known("a"), known("b"), known("c"))
    for name in ("a", "b"):
        placement.workers[f"tcp://{name}"].unable["env"] = "there is no Python 3.9"
    assert chosen(placement) == "c"
    placement.workers["tcp://c"].unfit = "no space is left"
    nobody = placement.choose("env", alone=False)
    assert isinstance(nobody, NoEligibleWorker)
    assert nobody.message == "there is no Python 3.9 (a, b); no space is left (c)"
    assert chosen(placement, "other") == "a"


def test_many_are_counted() -> None:
    nobody = NoEligibleWorker(why={f"w{number}": "full" for number in range(10)})
    assert nobody.message == "full (w0, w1 and 8 more)"
    assert NoEligibleWorker(why={}).message == ""


def test_who_has_gone() -> None:
    placement = placed(known("a"), known("b"))
    before = placement.workers["tcp://b"]
    gone = placement.update([known("b"), known("c")])
    assert [place.info.name for place in gone] == ["a"]
    assert placement.workers["tcp://b"] is before
    assert placement.threads == 2


def test_a_batch_is_tried_three_times() -> None:
    losses = Losses()
    assert not losses.suspect
    told = []
    for name in ("a", "b", "c"):
        losses = losses.and_of(known(name, f"host-{name}"))
        told.append((losses.suspect, losses.divide, losses.are_enough))
    assert told == [(True, False, False), (True, True, False), (True, False, True)]
    assert losses.names == ("a", "b", "c")
    assert losses.hosts == {"host-a", "host-b", "host-c"}
