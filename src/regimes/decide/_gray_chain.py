"""The longest chain of necklaces from AA...A to BB...B whose neighbours differ by one letter.

No chain can be longer than the parity of its Bs allows, since it changes at every step. Up to m = 7
all chains are tried until one is that long. Beyond, a path is extended to the neighbour with the
fewest free neighbours of its own and, where it is stuck, turned round at an inner site (Pósa's
rotation), the least used one first; nothing is drawn at random.
"""

from __future__ import annotations

import functools
from collections import Counter

from regimes._check import positive_int
from regimes.decide._necklaces import necklace_graph

Graph = dict[str, tuple[str, ...]]

_ALL_TRIED = 7  # letters
_FOUND = (*range(1, 16), 17)  # letters for which the search is known to end


def gray_chain(m: int) -> tuple[str, ...]:
    """The longest chain of necklaces of m letters, from AA...A to BB...B, in Gray order.

    For prime m it holds all necklaces, known up to m = 37 [Geiger 2022, Definition 4.1]; for even m
    it cannot, since the parity of the Bs changes at each step:
    `n <= 2 min(number odd, number even - 1) + 1`, which is reached for every even m from 2 to 14.

    Args:
        m: letters of a word: 1 to 15, or 17.

    Raises:
        ValueError: other m, for which no chain is known here of which none can be longer.

    >>> gray_chain(4)
    ('AAAA', 'AAAB', 'AABB', 'ABBB', 'BBBB')
    """
    m = positive_int("m", m)
    if m not in _FOUND:
        raise ValueError(f"the longest chain is found for m from 1 to 15, and 17; got {m}")
    return _found(m)


@functools.cache
def _found(m: int) -> tuple[str, ...]:
    graph = necklace_graph(m)
    return _by_trying(graph, m) if m <= _ALL_TRIED else _by_turning(graph, m)


def longest_possible(graph: Graph) -> int:
    """Necklaces in a chain whose number of Bs is even and odd in turn, as far as there are any."""
    kinds = Counter(word.count("B") % 2 for word in graph)
    m = len(next(iter(graph)))
    if m % 2:  # from even to odd
        return 2 * min(kinds[0], kinds[1])
    return 2 * min(kinds[1], kinds[0] - 1) + 1


def _by_trying(graph: Graph, m: int) -> tuple[str, ...]:
    """The first of the longest chains, depth first; fewest free neighbours go first."""
    goal, most = "B" * m, longest_possible(graph)
    path = ["A" * m]
    best: list[str] = []
    free = {word: len(joined) for word, joined in graph.items()}

    def extend() -> bool:
        nonlocal best
        if path[-1] == goal:
            best = max(best, path.copy(), key=len)
            return len(best) == most
        for word in graph[path[-1]]:
            free[word] -= 1
        for word in sorted(graph[path[-1]], key=free.__getitem__):
            if word not in path:
                path.append(word)
                if extend():
                    return True
                path.pop()
        for word in graph[path[-1]]:
            free[word] += 1
        return False

    extend()
    return tuple(best)


def _by_turning(graph: Graph, m: int) -> tuple[str, ...]:
    """A chain of the most necklaces possible."""
    start, goal, most = "A" * m, "B" * m, longest_possible(graph)
    (before_goal,) = graph[goal]
    # grown as a ring that is cut between goal and start: these three stay where they are
    path = [before_goal, goal, start]
    place = {word: i for i, word in enumerate(path)}
    free = {word: [each for each in joined if each not in place] for word, joined in graph.items()}
    used: Counter[tuple[str, str]] = Counter()
    turn = 0
    while True:
        while free[path[-1]]:
            word = min(free[path[-1]], key=lambda each: len(free[each]))
            place[word] = len(path)
            path.append(word)
            for each in graph[word]:
                free[each].remove(word)
        if len(path) == most and path[-1] in graph[before_goal]:
            return (*path[2:], before_goal, goal)

        def preference(word: str, tail: str = path[-1]) -> tuple[bool, int]:
            return not free[path[place[word] + 1]], used[tail, word]

        inner = range(3, len(path) - 2)
        pivot = min((w for w in graph[path[-1]] if place.get(w) in inner), key=preference)
        turn += 1
        used[path[-1], pivot] = turn
        turned = place[pivot] + 1
        path[turned:] = path[: turned - 1 : -1]
        place.update((word, turned + i) for i, word in enumerate(path[turned:]))
