"""Which worker takes what."""

from __future__ import annotations

from compat.execution.executors.dask.placement import Known, Losses, Nobody, Place, Placement


def known(name: str, host: str = "host", threads: int = 1) -> Known:
    return Known(address=f"tcp://{name}", name=name, host=host, threads=threads)


def placed(*workers: Known) -> Placement:
    placement = Placement()
    placement.update(workers)
    return placement


def chosen(placement: Placement, env: str = "env", *, alone: bool = False, not_again: frozenset[str] = frozenset()) -> str | None:
    place = placement.choose(env, alone=alone, not_again=not_again)
    if place is None:
        return None
    assert isinstance(place, Place), place
    place.in_flight += 1
    place.alone = place.alone or alone
    return place.known.name


def test_threads_that_are_free_come_before_envs_that_are_warm() -> None:
    placement = placed(known("a"), known("b"))
    placement.places["tcp://b"].envs.add("env")
    assert [chosen(placement) for _ in range(5)] == ["b", "a", "b", "a", None]


def test_workers_with_more_threads_take_more() -> None:
    placement = placed(known("a"), known("b", threads=3))
    taken = [chosen(placement) for _ in range(9)]
    assert (taken.count("a"), taken.count("b"), taken.count(None)) == (2, 6, 1)


def test_what_may_end_a_worker_is_alone_there_and_on_its_host() -> None:
    placement = placed(known("a", "one"), known("b", "one"), known("c", "two"))
    placement.places["tcp://a"].in_flight = 1
    assert chosen(placement, alone=True, not_again=frozenset({"two"})) == "b"
    assert chosen(placement, alone=True) == "c", "not on a host with another such"
    assert chosen(placement, alone=True) is None
    assert [chosen(placement) for _ in range(2)] == ["a", None], "nothing else goes to those"


def test_nobody_can_have_an_env() -> None:
    placement = placed(known("a"), known("b"), known("c"))
    for name in ("a", "b"):
        placement.places[f"tcp://{name}"].unable["env"] = "there is no Python 3.9"
    assert chosen(placement) == "c"
    placement.places["tcp://c"].unfit = "no space is left"
    nobody = placement.choose("env", alone=False)
    assert isinstance(nobody, Nobody)
    assert nobody.words == "there is no Python 3.9 (a, b); no space is left (c)"
    assert chosen(placement, "other") == "a"


def test_many_are_counted() -> None:
    nobody = Nobody(why={f"w{number}": "full" for number in range(10)})
    assert nobody.words == "full (w0, w1 and 8 more)"
    assert Nobody(why={}).words == ""


def test_who_has_gone() -> None:
    placement = placed(known("a"), known("b"))
    before = placement.places["tcp://b"]
    gone = placement.update([known("b"), known("c")])
    assert [place.known.name for place in gone] == ["a"]
    assert placement.places["tcp://b"] is before
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
