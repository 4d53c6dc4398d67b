import heapq
import io
import threading

import pytest

from regimes.lab import LiveBar, PlainLines, Stop, Tally, TrialConfig
from regimes.lab._perform import Outcome
from regimes.lab._queue import Task, TrialQueue
from regimes.lab._watch import Watch


def make(clock, count=4, already=2):
    tasks = [Task(TrialConfig("a/b", 1, {}, {"i": i}, "float64"), i + 1.0) for i in range(count)]
    queue = TrialQueue(tasks, workers=1, salt="", clock=clock)
    return tasks, queue, Tally(count + already, already, queue, {"x": "min"})


def test_the_line_says_counts_rate_time_left_and_best():
    now = [100.0]
    tasks, queue, tally = make(lambda: now[0])
    for task, x in ((tasks[3], 0.5), (tasks[0], 0.7)):
        now[0] += 5.0
        outcome = Outcome(task.key, "finished", 5.0, watched={"x": x})
        queue.learn(outcome)
        tally.add(outcome)
    assert (tally.rate, tally.best) == (0.2, {"x": 0.5})
    assert tally.seconds_left is None  # the first warmed up, the second was much smaller than 2, 3
    assert tally.line() == "4/6 trials in 10 s, 0.2/s, best x 0.5"
    now[0] += 6.0
    outcome = Outcome(tasks[2].key, "finished", 6.0)
    queue.learn(outcome)
    tally.add(outcome)
    # costs 1 and 3 took 11 s, so 2 takes 5.5 s; by the clock 4; 8/10 of the cost is done
    assert tally.seconds_left == pytest.approx(0.2 * 5.5 + 0.8 * 4.0)
    assert tally.line() == "5/6 trials in 16 s, 0.188/s, 4 s left, best x 0.5"


def estimates(costs, seconds, *, workers, startup, warm_up):
    """What a run on a clock of its own tells: (time left as told, as it was) after each trial."""
    now = [0.0]
    tasks = [Task(TrialConfig("a/b", 1, {}, {"i": i}, "float64"), c) for i, c in enumerate(costs)]
    queue = TrialQueue(tasks, workers=workers, salt="", clock=lambda: now[0])
    tally = Tally(len(tasks), 0, queue, {})
    free = [(startup, worker, warm_up) for worker in range(workers)]
    ends, told = [], []
    while True:
        while free and (batch := queue.take()):
            begin, worker, extra = heapq.heappop(free)
            for task in batch:
                took = seconds(task.cost) + extra
                begin, extra = begin + took, 0.0
                heapq.heappush(ends, (begin, worker, task.key, took, task is batch[-1]))
        if not ends:
            return [(left, now[0] - when) for left, when in told]
        now[0], worker, key, took, last = heapq.heappop(ends)
        outcome = Outcome(key, "finished", took)
        queue.learn(outcome)
        tally.add(outcome)
        told.append((tally.seconds_left, now[0]))
        if last:
            heapq.heappush(free, (now[0], worker, 0.0))


RUNS = {  # costs, seconds of a trial by its cost, start of a worker, what its first trial pays
    "thousands of short trials": ([1.0] * 5000, lambda cost: 0.004, 3.0, 1.0),
    "one long, many tiny": ([1e4] + [1.0] * 9, lambda cost: 0.05 + cost / 1e3, 3.0, 0.5),
    "hours": ([1.0] * 12, lambda cost: 3600.0, 3.0, 5.0),
    "powers of two": ([2.0**k for k in range(12)], lambda cost: 0.01 * cost, 3.0, 1.0),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_estimate_is_absurd(name):
    costs, seconds, startup, warm_up = RUNS[name]
    told = estimates(costs, seconds, workers=2, startup=startup, warm_up=warm_up)
    for left, truth in told[:-1]:
        if left is not None:
            assert truth / 2 - 5 < left < 2 * truth + 5


def test_an_estimate_comes_as_early_as_it_can():
    def first(name):
        costs, seconds, startup, warm_up = RUNS[name]
        told = estimates(costs, seconds, workers=2, startup=startup, warm_up=warm_up)
        return next(i for i, (left, _) in enumerate(told) if left is not None)

    assert first("hours") == 0  # against an hour the start of a worker is nothing
    assert first("thousands of short trials") == 2  # the first of each worker does not count


def test_failures_and_nans_are_in_the_line():
    tasks, _, tally = make(lambda: 0.0)
    tally.add(Outcome(tasks[0].key, "failed", 1.0, error="E"))
    tally.add(Outcome(tasks[1].key, "finished", 1.0, nonfinite=("x",)))
    tally.add(Outcome(tasks[2].key, "found"))
    assert tally.line().endswith("1 failed, 1 with NaN")
    assert tally.busy_seconds == 2.0


def test_plain_lines_come_seldom_and_at_the_end():
    _, _, tally = make(lambda: 0.0)
    lines = []
    progress = PlainLines(lines.append, every=3600)
    for _ in range(5):
        progress.show(tally)
    progress.show(tally, last=True)
    assert lines == ["2/6 trials", "2/6 trials"]


def test_the_bar_draws_on_a_terminal():
    from rich.console import Console

    text = io.StringIO()
    _, _, tally = make(lambda: 0.0)
    bar = LiveBar(Console(file=text, force_terminal=True, width=80))
    bar.show(tally)
    bar.show(tally, last=True)
    assert "2/6 trials" in text.getvalue()


def test_while_the_first_trial_works_its_place_and_time_are_told():
    now = [0.0]
    _, queue, tally = make(lambda: now[0])
    queue.take()
    now[0] = 75.0
    assert tally.line() == "2/6 trials in 1 min 15 s, running i=3 (1 min 15 s)"
    assert tally.line(running=False) == "2/6 trials in 1 min 15 s"


def test_a_run_is_shown_before_anything_ends_and_a_stop_is_answered_at_once():
    _, _, tally = make(lambda: 0.0)
    lines, stop, said = [], Stop(), threading.Event()

    def write(line):
        lines.append(line)
        if "bye" in line:
            said.set()

    with Watch(PlainLines(write, every=3600), tally, stop, "bye"):
        assert lines == ["2/6 trials"]
        stop.request()
        assert said.wait(5)
    assert lines == ["2/6 trials", "bye", "2/6 trials"]


def test_a_log_grows_ever_slower_while_nothing_ends(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("regimes.lab._progress.time.monotonic", lambda: now[0])
    _, _, tally = make(lambda: 0.0)
    lines = []
    progress = PlainLines(lambda line: lines.append(now[0]), every=5)
    for second in range(100):
        now[0] = float(second)
        progress.show(tally)
    assert lines == [0.0, 5.0, 15.0, 35.0, 75.0]
