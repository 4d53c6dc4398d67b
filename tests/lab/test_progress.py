import io

from regimes.lab import LiveBar, PlainLines, Tally, TrialConfig
from regimes.lab._perform import Outcome
from regimes.lab._queue import Task, TrialQueue


def make(clock, count=4, already=2):
    tasks = [Task(TrialConfig("a/b", 1, {}, {"i": i}, "float64"), i + 1.0) for i in range(count)]
    queue = TrialQueue(tasks, workers=1, salt="")
    return tasks, queue, Tally(count + already, already, queue, {"x": "min"}, clock=clock)


def test_the_line_says_counts_rate_time_left_and_best():
    now = [100.0]
    tasks, queue, tally = make(lambda: now[0])
    for task, x in ((tasks[3], 0.5), (tasks[0], 0.7)):
        now[0] += 5.0
        outcome = Outcome(task.key, "finished", 5.0, watched={"x": x})
        queue.learn(outcome)
        tally.add(outcome)
    assert (tally.rate, tally.best) == (0.2, {"x": 0.5})
    assert tally.seconds_left == 10.0  # costs 1 and 4 took 10 s, 2 and 3 are left
    assert tally.line() == "4/6 trials, 0.2/s, 10 s left, best x 0.5"


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
