"""What a player may remember: numbers and letters."""

import pytest
import torch

from regimes.decide import Memento, Ram


@pytest.mark.parametrize("memory", [Ram(3), Memento(1), Memento(3)])
def test_labels_are_all_different_and_count(memory):
    labels = [memory.label(o) for o in range(memory.observations)]
    assert len(set(labels)) == memory.observations == memory.blanks + 2 * memory.plays
    assert memory.following.shape == (memory.observations, memory.actions)
    assert set(memory.following.flatten().tolist()) == set(range(memory.plays))


@pytest.mark.parametrize(("depth", "count"), [(2, 21), (3, 85), (4, 341), (5, 1365)])
def test_words_of_memento(depth, count):
    memory = Memento(depth)
    assert memory.observations == count
    for o in range(0, count, 7):
        assert memory.observation(memory.label(o)) == o


def test_a_play_drops_the_oldest_pair_and_appends_its_own():
    memory = Memento(4)
    won, lost = memory.after(memory.observation("AABB++-+"), arm=0)
    assert (memory.label(won), memory.label(lost)) == ("ABBA+-++", "ABBA+-+-")
    won, lost = memory.after(memory.observation("AB+-"), arm=1)  # still short
    assert (memory.label(won), memory.label(lost)) == ("ABB+-+", "ABB+--")


def test_histories_are_the_words_in_order():
    memory = Memento(3)
    for length in range(4):
        arms, rewards = memory.histories(length)
        words = [
            "".join("AB"[a] for a in e) + "".join("+-"[b] for b in y)
            for e, y in zip(arms.tolist(), rewards.tolist(), strict=True)
        ]
        first = memory.first(length)
        assert words == [memory.label(first + n) for n in range(4**length)]


def test_observations_and_actions_of_ram():
    memory = Ram(4)
    seen = [memory.observation(n) for n in range(4)]
    seen += [
        memory.observation(n, arm=e, reward=y) for n in range(4) for e in (0, 1) for y in (0, 1)
    ]
    assert seen == list(range(20))
    assert [memory.action(n, e) for n in range(4) for e in (0, 1)] == list(range(8))
    assert memory.label(memory.observation(0)) == "1"
    assert memory.label(memory.observation(3, arm=1, reward=1)) == "4B-"
    assert torch.equal(memory.following[0], torch.arange(8))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Ram(0), "states must be an integer >= 1, got 0"),
        (lambda: Memento(1.5), "depth must be an integer >= 1, got 1.5"),
        (lambda: Memento(11), "depth must be <= 10, got 11"),
        (lambda: Ram(2).observation(2), "memory must be at most 1, got 2"),
        (lambda: Ram(2).observation(1, arm=0), "reward must be an integer >= 0, got None"),
        (lambda: Ram(2).label(10), "observation must be at most 9"),
        (lambda: Memento(2).observation("AAA+++"), "up to 2 arms A or B .* got 'AAA"),
        (lambda: Memento(2).observation("AC++"), "got 'AC++'".replace("+", r"\+")),
        (lambda: Memento(2).observation(3), "got 3"),
        (lambda: Memento(2).action(2), "arm must be at most 1"),
        (lambda: Memento(2).embed(torch.ones(2, 5)), r"policy must have shape \(..., 2, 21\), got"),
        (lambda: Memento(2).histories(3), "length must be at most 2"),
    ],
)
def test_what_is_not_remembered_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
