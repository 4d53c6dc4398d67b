"""Necklaces of two letters: classes of words under rotation, and chains of them by single letters.

A player that repeats the oldest arm it remembers turns a word of arms in a circle; the necklace of
the word is what it then keeps. A chain from AA...A to BB...B in which neighbours differ by one
letter is a scale of confidence [Geiger 2022, Definition 4.1].
"""

from __future__ import annotations

import math

from regimes._check import positive_int

_LONGEST_WORD = 20  # 52488 necklaces


def necklaces(m: int) -> tuple[str, ...]:
    """All classes of words of m letters A and B under rotation, each by its first word in order.

    >>> necklaces(3)
    ('AAA', 'AAB', 'ABB', 'BBB')
    """
    m = _length(m)
    letters, found = [0] * (m + 1), []

    def extend(place: int, period: int) -> None:  # Fredricksen, Kessler, Maiorana
        if place > m:
            if m % period == 0:
                found.append("".join("AB"[letter] for letter in letters[1:]))
            return
        for letter in range(letters[place - period], 2):
            letters[place] = letter
            extend(place + 1, period if letter == letters[place - period] else place)

    extend(1, 1)
    return tuple(found)


def necklace_count(m: int) -> int:
    """Number of necklaces, `N(m) = (1/m) sum over d that divide m of phi(d) 2^(m/d)`.

    phi is Euler's totient; for prime m, `N = 2 + (2^m - 2)/m` [Geiger 2022, Definition 4.1].

    >>> [necklace_count(m) for m in range(1, 8)]
    [2, 3, 4, 6, 8, 14, 20]
    """
    m = positive_int("m", m)
    if m > 1000:
        raise ValueError(f"m must be at most 1000, got {m}")
    totients = {
        d: sum(math.gcd(d, k) == 1 for k in range(1, d + 1)) for d in range(1, m + 1) if m % d == 0
    }
    return sum(phi << (m // d) for d, phi in totients.items()) // m


def necklace(word: str) -> str:
    """The necklace of a word: the first of its rotations in the order of letters.

    >>> necklace("BAB")
    'ABB'
    """
    if not isinstance(word, str) or not word or set(word) - set("AB"):
        raise ValueError(f"a word is made of the letters A and B, got {word!r}")
    return min(rotations(word))


def rotations(word: str) -> list[str]:
    """All rotations of a word, the oldest letter taken to the end one by one."""
    return [word[turn:] + word[:turn] for turn in range(len(word))]


def flipped(word: str) -> str:
    """What a word becomes when the oldest letter is dropped and its opposite played."""
    return word[1:] + ("B" if word[0] == "A" else "A")


def necklace_graph(m: int) -> dict[str, tuple[str, ...]]:
    """Necklaces joined where one letter changed leads from one to the other.

    >>> necklace_graph(4)["AABB"]
    ('AAAB', 'ABBB')
    """
    return {
        each: tuple(sorted({necklace(flipped(word)) for word in rotations(each)}))
        for each in necklaces(m)
    }


def _length(m: int) -> int:
    m = positive_int("m", m)
    if m > _LONGEST_WORD:
        raise ValueError(f"m must be at most {_LONGEST_WORD}, where 2^m words are many; got {m}")
    return m
