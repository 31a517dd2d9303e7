"""Code that the method `loop` calls, as a baseline calls its library."""

from fakelab.demo2020 import adding


def total(numbers):
    return adding.total(numbers)
