"""Explicit one-step methods: the velocity with which a step moves the state."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from regimes.flow._field import Field, State, advance

Method = Callable[[Field, State, State, Tensor], State]


def euler(field: Field, state: State, speed: State, dt: Tensor) -> State:
    """The speed at the start: one evaluation per step, error of order dt."""
    return speed


def heun(field: Field, state: State, speed: State, dt: Tensor) -> State:
    """The mean of the speeds at both ends: two evaluations per step, error of order dt^2."""
    end = field.evaluate(advance(state, speed, dt)).speed
    return {name: 0.5 * (value + end[name]) for name, value in speed.items()}


def runge_kutta(field: Field, state: State, speed: State, dt: Tensor) -> State:
    """The classical four stages: four evaluations per step, error of order dt^4."""
    second = field.evaluate(advance(state, speed, 0.5 * dt)).speed
    third = field.evaluate(advance(state, second, 0.5 * dt)).speed
    fourth = field.evaluate(advance(state, third, dt)).speed
    return {
        name: (value + 2 * second[name] + 2 * third[name] + fourth[name]) / 6
        for name, value in speed.items()
    }


METHODS: dict[str, Method] = {"euler": euler, "heun": heun, "rk4": runge_kutta}
