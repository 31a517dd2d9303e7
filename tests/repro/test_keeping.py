"""Values that cells share: as many as are wanted, those asked for last, and of each object its own."""

import weakref

import pytest

from repro.keeping import kept


class Value:
    pass


@pytest.mark.parametrize("most", [1, 3])
def test_the_last_values_that_were_asked_for_are_kept_and_no_others(most):
    made, alive = [], []

    @kept(lambda number, **named: number, most=most)
    def value(number, unused=None):
        alive.append(sum(each() is not None for each in made))
        found = Value()
        made.append(weakref.ref(found))
        return found

    one = [value(number, unused=number) for number in range(most)]
    assert [value(number) for number in range(most)] == one and len(made) == most
    value(0)
    del one
    value(most)  # it takes the room of 1, if there is one, or of 0
    assert alive[-1] == most - 1, "one is given up before the next is made"
    assert [each() is not None for each in made] == [most > 1, *[number > 1 for number in range(1, most)], True]


def test_an_object_has_values_of_its_own_and_what_failed_is_tried_again():
    class Maker:
        tried = 0

        @kept()
        def made(self, number):
            Maker.tried += 1
            if Maker.tried == 1:
                raise ValueError
            return self, number

    one, other = Maker(), Maker()
    with pytest.raises(ValueError):
        one.made(1)
    assert one.made(1) == (one, 1) and other.made(1) == (other, 1) and one.made(1) is one.made(1)
    assert Maker.tried == 3
