"""What is ready comes best first: one after the other, each once, whatever enters, leaves or changes its rank."""

from __future__ import annotations

from aotloop.core.graph.ready_queue import SLACK, Ranking
from aotloop.core.graph.work_graph import Rank


def rank(number: int) -> Rank:
    return (False, float(number), 0, 0, 0)


def a_ranking(**ranks: int) -> Ranking:
    ranking = Ranking()
    for name, number in ranks.items():
        ranking.place(name, rank(number))
    return ranking


def all_of(ranking: Ranking) -> list[str]:
    reader, given = object(), list[str]()
    while (best := ranking.best_but(set(given), reader)) is not None:
        given.append(best)
    return given


def test_the_best_comes_first_for_every_reader_anew() -> None:
    ranking = a_ranking(b=2, a=1, c=3)
    assert ranking.in_order() == all_of(ranking) == all_of(ranking) == ["a", "b", "c"]


def test_who_leaves_is_not_given_and_who_comes_back_is() -> None:
    ranking = a_ranking(a=1, b=2)
    ranking.remove("a")
    ranking.remove("nobody")
    assert all_of(ranking) == ranking.in_order() == ["b"]
    ranking.place("a", rank(3))
    assert all_of(ranking) == ranking.in_order() == ["b", "a"]


def test_a_new_rank_counts_and_the_old_one_does_not() -> None:
    ranking = a_ranking(a=1, b=2, c=3)
    ranking.place("a", rank(4))
    assert all_of(ranking) == ["b", "c", "a"]
    ranking.place("a", rank(1))
    assert all_of(ranking) == ["a", "b", "c"]


def test_what_enters_while_somebody_reads_is_given_in_its_place() -> None:
    ranking, reader = a_ranking(a=1, d=4), object()
    assert ranking.best_but(set(), reader) == "a"
    ranking.place("b", rank(2))
    assert ranking.best_but({"a"}, reader) == "b"
    assert ranking.best_but({"a", "b"}, reader) == "d"
    assert ranking.best_but({"a", "b", "d"}, reader) is None


def test_what_was_given_before_to_the_same_reader_is_passed_over() -> None:
    ranking, reader = a_ranking(a=1, b=2), object()
    assert ranking.best_but({"a"}, reader) == "b"
    assert all_of(ranking) == ["a", "b"]


def test_outdated_entries_are_tidied_up_and_nothing_is_lost_by_it() -> None:
    ranking = a_ranking(a=1, b=2)
    for number in range(10 * SLACK):
        ranking.place("c", rank(number + 3))
        assert ranking.best_but(set(), object()) == "a"
    assert len(ranking._heap) <= 2 * 3 + SLACK
    assert all_of(ranking) == ["a", "b", "c"]


def test_few_outdated_entries_are_not_worth_tidying_up() -> None:
    ranking = a_ranking(a=1)
    for number in range(SLACK + 1):
        ranking.place("a", rank(number + 2))
    assert len(ranking._heap) == SLACK + 2
    ranking.place("a", rank(0))
    assert ranking._heap == [(rank(0), "a")]


def test_the_same_rank_again_is_no_entry() -> None:
    ranking = a_ranking(a=1)
    for _ in range(3):
        ranking.place("a", rank(1))
    assert ranking._heap == [(rank(1), "a")]


def test_one_reader_takes_each_off_once_and_the_next_finds_all_of_them_once() -> None:
    ranking, reader = a_ranking(a=1, b=2, c=3), object()
    for given in (set[str](), {"a"}):
        ranking.best_but(given, reader)
    assert len(ranking._heap) == 1
    for _ in range(3):
        assert ranking.best_but(set(), object()) == "a"
        assert len(ranking._heap) == 2


def test_after_tidying_up_the_best_is_first_and_each_is_there_once() -> None:
    ranking = a_ranking(a=500, b=400)
    assert ranking.best_but(set(), object()) == "b"
    entries, number = 0, 3 * SLACK
    while len(ranking._heap) >= entries:
        entries, number = len(ranking._heap), number - 1
        ranking.place("c", rank(number))
    assert ranking.best_but(set(), object()) == "c"
    assert len(ranking._heap) == 2
    assert all_of(ranking) == ["c", "b", "a"]
