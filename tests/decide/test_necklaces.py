"""Necklaces and their chains, against all words written out."""

import itertools

import pytest

from regimes.decide import gray_chain, necklace, necklace_count, necklace_graph, necklaces


@pytest.mark.parametrize("m", range(1, 15))
def test_every_class_of_words_once(m):
    # POM-18
    assert len(necklaces(m)) == necklace_count(m)
    if m <= 9:
        words = map("".join, itertools.product("AB", repeat=m))
        assert sorted({necklace(word) for word in words}) == sorted(necklaces(m))
    if m in (2, 3, 5, 7, 11, 13):
        assert necklace_count(m) == 2 + (2**m - 2) // m


def one_letter_apart(first, second):
    """Whether some rotation of one differs from the other at one letter."""
    turns = [second[i:] + second[:i] for i in range(len(second))]
    return any(sum(a != b for a, b in zip(first, turn, strict=True)) == 1 for turn in turns)


@pytest.mark.parametrize("m", [1, 2, 4, 5, 6])
def test_neighbours_differ_by_one_letter(m):
    graph = necklace_graph(m)
    for one, other in itertools.product(graph, repeat=2):
        assert (other in graph[one]) == one_letter_apart(one, other)


@pytest.mark.parametrize(
    ("m", "longest"),
    [*enumerate([2, 3, 4, 5, 8, 13, 20, 33, 60, 105], start=1), (11, 188), (13, 632)],
)
def test_chains_in_gray_order(m, longest):
    # POM-19
    chain = gray_chain(m)
    assert (chain[0], chain[-1]) == ("A" * m, "B" * m)
    assert len(chain) == len(set(chain)) == longest
    assert all(one_letter_apart(*pair) for pair in itertools.pairwise(chain))
    if m in (2, 3, 5, 7, 11, 13):
        assert longest == necklace_count(m)


@pytest.mark.parametrize("m", [4, 6])
def test_no_chain_is_longer(m):
    graph = necklace_graph(m)

    def longest(path):
        if path[-1] == "B" * m:
            return len(path)
        return max((longest([*path, w]) for w in graph[path[-1]] if w not in path), default=0)

    assert longest(["A" * m]) == len(gray_chain(m))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: necklaces(0), "m must be an integer >= 1"),
        (lambda: necklaces(21), "m must be at most 20"),
        (lambda: necklace_count(1001), "m must be at most 1000"),
        (lambda: necklace("ABC"), "made of the letters A and B"),
        (lambda: gray_chain([3]), "m must be an integer >= 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
