"""Activation: the least recently used makes room, pinned tools stay, and places do not move."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.catalog.discovery.activation import Activation

NAMES = st.sampled_from([f"t.{letter}" for letter in "abcdefghij"])
USES = st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=30)


def replaced(uses: list[list[str]], ceiling: int, pinned: tuple[str, ...]) -> list[tuple[Activation, tuple[str, ...]]]:
    """The states of an activation that is bounded after every use, with what each step evicted."""
    activation = Activation(ceiling, pinned)
    steps: list[tuple[Activation, tuple[str, ...]]] = []
    for names in uses:
        activation, evicted = activation.using(names).bounded()
        steps.append((activation, evicted))
    return steps


@settings(deadline=None)
@given(USES, st.integers(1, 8), st.sets(NAMES, max_size=3))
def test_never_more_than_the_ceiling_and_never_without_the_pinned(
    uses: list[list[str]], ceiling: int, pinned: set[str]
) -> None:
    for activation, evicted in replaced(uses, ceiling, tuple(sorted(pinned))):
        assert len(activation.shown) <= max(ceiling, len(pinned) + 1)
        assert pinned <= set(activation.shown)
        assert pinned.isdisjoint(evicted)
        assert len(set(activation.shown)) == len(activation.shown)


@settings(deadline=None)
@given(USES, st.integers(1, 8))
def test_what_stays_is_what_was_used_last(uses: list[list[str]], ceiling: int) -> None:
    used: list[str] = []
    for names, (activation, _) in zip(uses, replaced(uses, ceiling, ()), strict=True):
        for name in dict.fromkeys(names):
            used = [*(known for known in used if known != name), name]
        assert set(activation.active) == set(used[-ceiling:])


@settings(deadline=None)
@given(USES, st.integers(1, 8))
def test_tools_keep_their_places_while_they_are_active(uses: list[list[str]], ceiling: int) -> None:
    before: tuple[str, ...] = ()
    for activation, _ in replaced(uses, ceiling, ()):
        kept = [name for name in before if name in activation.active]
        assert list(activation.active[: len(kept)]) == kept
        before = activation.active


@settings(deadline=None)
@given(USES, st.lists(NAMES, min_size=1, max_size=6, unique=True), st.integers(1, 8), st.sets(NAMES, max_size=8))
def test_of_what_is_found_the_best_stay_and_the_very_best_always(
    uses: list[list[str]], found: list[str], ceiling: int, pinned: set[str]
) -> None:
    before = Activation(ceiling, tuple(sorted(pinned)))
    for names in uses:
        before, _ = before.using(names).bounded()
    after, _ = before.found(found).bounded()
    room = max(1, ceiling - len(pinned))
    assert set(found) & set(after.active) == {*[name for name in found if name not in pinned][:room]}
    fresh = [name for name in after.active if name not in before.active]
    assert fresh == [name for name in found if name in fresh]


@settings(deadline=None)
@given(USES)
def test_without_bounding_nothing_ever_goes(uses: list[list[str]]) -> None:
    activation = Activation(2)
    for names in uses:
        activation = activation.using(names)
    assert set(activation.active) == {name for names in uses for name in names}


@settings(deadline=None)
@given(USES, st.integers(1, 8), USES)
def test_a_restored_activation_goes_on_as_if_it_had_never_been_away(
    uses: list[list[str]], ceiling: int, later: list[list[str]]
) -> None:
    activation = Activation(ceiling)
    for names in uses:
        activation, _ = activation.using(names).bounded()
    restored = Activation(ceiling).restored(activation.body(), lambda name: True)
    assert restored == activation
    for names in later:
        activation, evicted = activation.using(names).bounded()
        restored, again = restored.using(names).bounded()
        assert (restored, again) == (activation, evicted)


def test_what_is_no_longer_there_is_not_restored() -> None:
    body = Activation().using(["t.a", "t.b"]).body()
    assert Activation().restored(body, "t.b".__eq__).active == ("t.b",)
    for broken in (None, 3, {"active": "t.a"}, {"active": [3], "recent": {}}):
        assert Activation().restored(broken, lambda name: True).active == ()
