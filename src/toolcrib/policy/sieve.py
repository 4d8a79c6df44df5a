"""Which of many rules could be about a call, found without trying each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolcrib.policy.paths import fixed_folder
from toolcrib.policy.rules import Rule
from toolcrib.values.noun import frozen
from toolcrib.values.target import Target, TargetKind


@frozen
class Sieve:
    """Rules in order. Those with path patterns are kept by the folder that each pattern begins with, those with
    command patterns by program, the others by the kind of target that they need."""

    rules: tuple[Rule, ...]
    always: tuple[int, ...]
    kinds: Mapping[TargetKind, tuple[int, ...]]
    folders: Mapping[str, tuple[int, ...]]
    programs: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Sieve:
        ordered = tuple(rules)
        always: list[int] = []
        kinds: dict[TargetKind, list[int]] = {}
        folders: dict[str, list[int]] = {}
        programs: dict[str, list[int]] = {}
        for number, rule in enumerate(ordered):
            if rule.touching.path:
                for folder in {fixed_folder(pattern).casefold() for pattern in rule.touching.path}:
                    folders.setdefault(folder, []).append(number)
            elif rule.touching.command:
                for program in _programs(rule.touching.command):
                    programs.setdefault(program, []).append(number)
            elif by_kind := rule.touching.by_kind:
                kinds.setdefault(next(iter(by_kind)), []).append(number)
            else:
                always.append(number)
        tables = ({key: tuple(found) for key, found in table.items()} for table in (folders, programs))
        return cls(ordered, tuple(always), {kind: tuple(found) for kind, found in kinds.items()}, *tables)

    @property
    def sees_arguments(self) -> bool:
        """Whether a call that touches nothing could still be meant, for its arguments."""
        return any(self.rules[number].arguments for number in self.always)

    def candidates(self, targets: Sequence[Target]) -> Sequence[Rule]:
        """The rules that could be about a call with these targets, in order."""
        if not targets:
            return [self.rules[number] for number in self.always]
        found = set(self.always)
        for target in targets:
            kind = target.kind
            if kind is TargetKind.PATH:
                if self.folders:
                    found.update(self._near(target.value))
                    if target.also:
                        found.update(self._near(target.also))
            elif kind is TargetKind.COMMAND:
                if self.programs:
                    found.update(self._running(target))
            else:
                found.update(self.kinds.get(kind, ()))
        return [self.rules[number] for number in sorted(found)]

    def _near(self, path: str) -> Iterator[int]:
        """Rules whose pattern begins with a folder on the way to this path; kept without case, as some ignore it."""
        folders, path = self.folders, path.casefold()
        yield from folders.get("", ())
        position = path.find("/", 1)
        while position > 0:
            if found := folders.get(path[:position]):
                yield from found
            position = path.find("/", position + 1)
        yield from folders.get(path, ())

    def _running(self, target: Target) -> Iterable[int]:
        from toolcrib.policy.commands.index import programs_in

        names = programs_in(target)
        if names is None:
            return (number for found in self.programs.values() for number in found)
        return (number for name in names for number in self.programs.get(name, ()))


def _programs(patterns: tuple[str, ...]) -> set[str]:
    from toolcrib.policy.commands.command import program_name
    from toolcrib.policy.commands.rules import pattern_words

    return {program_name(pattern_words(pattern)[0]) for pattern in patterns}
