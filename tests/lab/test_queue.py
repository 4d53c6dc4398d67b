import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regimes.lab import TrialConfig
from regimes.lab._perform import Outcome
from regimes.lab._queue import BATCH_TRIALS, DEATHS, Task, TrialQueue


def task(i, cost=1.0):
    return Task(TrialConfig("a/b", 1, {}, {"i": i}, "float64"), cost)


def drain(queue):
    batches = []
    while batch := queue.take():
        batches.append(batch)
    return batches


@given(st.lists(st.floats(1e-3, 1e3), max_size=60), st.integers(1, 5))
def test_every_trial_is_handed_out_once_and_the_longest_first(costs, workers):
    tasks = [task(i, cost) for i, cost in enumerate(costs)]
    handed = [item for batch in drain(TrialQueue(tasks, workers=workers)) for item in batch]
    assert sorted(item.key for item in handed) == sorted(item.key for item in tasks)
    for earlier, later in itertools.pairwise(handed):
        assert earlier.cost > later.cost / 2  # within a factor of two the order is free


def test_before_anything_is_known_trials_go_out_one_by_one():
    queue = TrialQueue([task(i) for i in range(10)], workers=2)
    assert len(queue.take()) == 1


def test_short_trials_are_batched_and_long_ones_are_not():
    for seconds, smallest, largest in ((1e-5, 100, BATCH_TRIALS), (10.0, 1, 1)):
        queue = TrialQueue([task(i) for i in range(2000)], workers=2)
        first = queue.take()[0]
        queue.learn(Outcome(first.key, "finished", seconds))
        assert smallest <= len(queue.take()) <= largest


def test_the_last_trials_are_shared_out():
    queue = TrialQueue([task(i) for i in range(21)], workers=2)
    queue.learn(Outcome(queue.take()[0].key, "finished", 1e-6))
    assert [len(batch) for batch in drain(queue)] == [5, 4, 3, 2, 2, 1, 1, 1, 1]


def test_trials_of_a_dead_worker_come_back_alone_and_are_given_up_in_the_end():
    queue = TrialQueue([task(i) for i in range(3)], workers=1)
    batch = [queue.take()[0], queue.take()[0]]
    for death in range(1, DEATHS):
        assert queue.bury(batch) == []
        assert [queue.take(), queue.take()] == [[batch[0]], [batch[1]]], death
    assert queue.bury(batch) == batch
    assert len(queue) == 1


def test_two_drivers_take_equal_trials_in_different_orders():
    tasks = [task(i) for i in range(50)]
    orders = [
        [item.key for batch in drain(TrialQueue(tasks, workers=1, salt=salt)) for item in batch]
        for salt in "abb"
    ]
    assert orders[0] != orders[1] == orders[2]


def test_cost_left_counts_what_is_not_finished():
    queue = TrialQueue([task(i, cost=i + 1.0) for i in range(4)], workers=1)
    (longest,) = queue.take()
    assert (longest.cost, queue.cost_left) == (4.0, 10.0)
    queue.learn(Outcome(longest.key, "finished", 2.0))
    assert queue.cost_left == 6.0
    assert queue.seconds_per_cost == pytest.approx(0.5)


def test_trials_that_come_back_are_not_in_flight():
    now = [5.0]
    queue = TrialQueue([task(i) for i in range(3)], workers=1, clock=lambda: now[0])
    first, second = queue.take()[0], queue.take()[0]
    assert queue.flying == {first.key: 5.0, second.key: 5.0}
    queue.put_back([first])
    assert set(queue.flying) == {second.key}
    assert queue.take() == [first]  # before those not yet handed out
    queue.bury([first, second])
    assert queue.flying == {}


def test_what_found_no_memory_comes_last_and_once():
    queue = TrialQueue([task(i) for i in range(2)], workers=2)
    (first,) = queue.take()
    outcome = Outcome(first.key, "failed", no_memory=True)
    assert queue.put_last(first, outcome)
    assert len(queue) == 2
    assert queue.take_last() == []  # there is another one
    queue.take()
    assert queue.take() == []
    assert queue.take_last() == [first]
    assert len(queue) == 0
    assert not queue.put_last(first, outcome)
    assert queue.give_up_last() == []


def test_what_was_put_last_and_never_taken_is_told():
    queue = TrialQueue([task(0)], workers=2)
    (first,) = queue.take()
    outcome = Outcome(first.key, "failed", no_memory=True)
    queue.put_last(first, outcome)
    assert queue.give_up_last() == [outcome]
    assert len(queue) == 0
