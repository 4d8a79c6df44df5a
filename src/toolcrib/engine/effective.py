"""The effective set: where the catalog and the policy meet. What it holds may run; everything else has its reason."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from toolcrib.catalog.narrow import reading_form
from toolcrib.catalog.registry import Checks, Registry, Snapshot
from toolcrib.catalog.validate import arguments_of, refusal_of
from toolcrib.engine.account import is_polling, is_untrusted
from toolcrib.engine.guard import Post
from toolcrib.engine.meters import Meters
from toolcrib.engine.screens import Screen
from toolcrib.policy.limits import Bucket, Rate
from toolcrib.policy.modes import Mode, under_mode
from toolcrib.policy.rules import HERE, Policy, Situation, compile_pattern
from toolcrib.policy.ruling import NO_MARKS, Ruling
from toolcrib.policy.verdict import Decision, Verdict
from toolcrib.ports import Hook, HookEvent
from toolcrib.values.call import Invocation, ToolCall
from toolcrib.values.identity import Surface
from toolcrib.values.json import JsonObject
from toolcrib.values.name import PROVIDER_LIMIT, SEARCH, NameTable
from toolcrib.values.noun import frozen
from toolcrib.values.refusal import Reason, Refusal
from toolcrib.values.spec import Effect, Lane, ToolSpec
from toolcrib.values.target import Target
from toolcrib.values.tool import Arguments, Tool, no_targets

Judge = Callable[[str, Sequence[Target]], Decision | None]
"""What rules about commands and hosts say of the targets of a tool's call; None when it has none of them."""


@dataclass(slots=True)
class Slot:
    """Everything about one tool of a run that can be known before a call: compiled once, at the first call."""

    tool: Tool
    checks: Checks
    ruling: Ruling
    before: tuple[Hook, ...]
    after: tuple[Hook, ...]
    timeout: float
    buckets: tuple[Bucket, ...]
    lane: Lane
    write_ahead: bool
    judge: Judge | None = None
    reading: Ruling | None = None
    """The rules for calls in the tool's read form."""
    mode: Mode = Mode.DEFAULT
    session_rates: tuple[tuple[str, Rate], ...] = ()
    guarded: bool = True
    untrusted: bool = False
    drift: str | None = None
    """Why the tool must not run: it is not what was approved."""
    metered: bool = field(init=False)
    touches: bool = field(init=False)
    """Whether its calls may leave a mark on their run."""
    tells_by_arguments: bool = field(init=False)
    """Whether what was asked for is part of what a call came to: of a write, and of a search."""
    fingerprint: str = field(init=False)
    decision: Decision = field(init=False)
    is_plain: bool = field(init=False)
    """Whether a call that touches nothing always gets the same decision."""

    def __post_init__(self) -> None:
        self.fingerprint = self.tool.fingerprint
        spec = self.tool.spec
        self.decision = under_mode(self.mode, self.ruling.fixed, spec, spec.effect)
        self.is_plain = self.ruling.is_fixed and self.reading is None and self.tool.needs_approval is None
        self.metered = bool(self.buckets or self.session_rates)
        self.touches = self.untrusted or self.tool.targets is not no_targets
        self.tells_by_arguments = spec.effect is not Effect.READ or spec.name == SEARCH

    def invoke(self, call: ToolCall, call_id: str) -> Invocation:
        """Prove the arguments: from raw JSON or a mapping to a valid invocation with its targets."""
        arguments = arguments_of(call.arguments)
        checks = self.checks
        is_valid = checks.arguments.is_valid
        if not is_valid(arguments):
            raise refusal_of(self.tool.name, checks.arguments.problems(arguments))
        tool = self.tool
        effect = tool.spec.effect
        if checks.read_form is not None and effect is Effect.WRITE:
            if checks.read_form.is_valid(arguments):
                effect = Effect.READ
            elif self.mode is Mode.PLAN:
                raise refusal_of(tool.name, checks.read_form.problems(arguments))
        targets = () if tool.targets is no_targets else targets_of(tool, arguments)
        return Invocation(call, call_id, tool, arguments, effect, targets)

    def decide(self, invocation: Invocation, marks: Set[str] = NO_MARKS) -> Decision:
        """The whole decision for one call, in the run that has these marks."""
        if self.is_plain and not invocation.targets and not marks and not invocation.call.repaired:
            return self.decision
        ruling = self.ruling
        if self.reading is not None and invocation.effect is Effect.READ:
            ruling = self.reading
        return self._decided(ruling, self.judge, invocation, marks)

    def decide_now(
        self, policy: Policy, situation: Situation, judge: Judge | None, invocation: Invocation, marks: Set[str]
    ) -> Decision:
        """The same under rules that changed since the run began."""
        ruling = policy.ruling(self.tool.spec, situation, invocation.effect)
        return self._decided(ruling, judge, invocation, marks)

    def _decided(self, ruling: Ruling, judge: Judge | None, invocation: Invocation, marks: Set[str]) -> Decision:
        """Rules, then what the tool itself asks for, then what is owed to a call that was mended."""
        tool, targets = self.tool, invocation.targets
        judged = judge(tool.name, targets) if judge is not None and targets else None
        decision = ruling.decide(invocation.arguments, targets, marks, judged)
        if tool.needs_approval is not None and (own := own_word(tool, invocation.arguments)) is not None:
            decision = decision.at_least(own)
        if self.mode is not Mode.DEFAULT:
            decision = under_mode(self.mode, decision, tool.spec, invocation.effect, invocation.targets)
        if invocation.call.repaired and invocation.effect is Effect.WRITE:
            repaired = "the call was repaired from broken JSON"
            decision = decision.at_least(Decision(Verdict.ASK, "default", "shipped", repaired))
        return decision


def targets_of(tool: Tool, arguments: Arguments) -> tuple[Target, ...]:
    """What a call would touch; a tool that cannot say so is refused."""
    try:
        return tuple(tool.targets(arguments))
    except Refusal:
        raise
    except Exception as error:  # it is the author's code, and nothing can be permitted that nobody knows
        message = (
            f"what {tool.name} would touch cannot be told ({type(error).__name__}: {error}); its author has to mend it"
        )
        raise Refusal(Reason.PERMISSION_DENIED, message) from error


def own_word(tool: Tool, arguments: Arguments) -> Decision | None:
    """What a tool itself says of a call: that it asks, or nothing. One that cannot say is denied."""
    try:
        if tool.needs_approval is None or not tool.needs_approval(arguments):
            return None
    except Exception as error:  # it is the author's code, and whatever it does is no permission
        because = f"the tool's own check failed ({type(error).__name__}: {error}); its author has to mend it"
        return Decision(Verdict.DENY, tool.name, "tool", because)
    return Decision(Verdict.ASK, tool.name, "tool", "the tool itself asks for approval")


@frozen
class Rates:
    """Rate limits by tool name pattern: of each tool, of each agent, of each session."""

    tool: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    agent: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    session: Mapping[str, Rate] = field(default_factory=dict[str, Rate])


@frozen
class Terms:
    """What a run brings to its effective set, besides the tools: policy, hooks, limits."""

    policy: Policy
    hooks: tuple[Hook, ...]
    default_timeout: float
    max_timeout: float
    rates: Rates = Rates()
    meters: Meters | None = None
    agent_id: str = "main"
    judge: Judge | None = None
    situation: Situation = HERE
    post: Post | None = None
    """The guard over contracts, where there is one."""
    surface: Surface = Surface.RUNTIME


class EffectiveSet:
    """The tools of one run, fixed for its life, with the reason for every tool that is out."""

    __slots__ = (
        "_drifted", "_lists", "_offered", "_registry", "_screens", "_slots", "_table", "_tools",
        "out", "snapshot", "terms",
    )  # fmt: skip

    def __init__(self, registry: Registry, snapshot: Snapshot, screens: Sequence[Screen], terms: Terms) -> None:
        self._registry = registry
        self._screens = screens
        self.snapshot = snapshot
        self.terms = terms
        self.out: dict[str, str] = {}
        self._drifted: set[str] = set()
        self._tools: dict[str, Tool] = {}
        self._offered: dict[str, ToolSpec] = {}
        self._slots: dict[str, Slot] = {}
        self._table: NameTable | None = None
        self._lists: dict[str, list[JsonObject]] = {}

    @classmethod
    def compile(cls, registry: Registry, snapshot: Snapshot, screens: Sequence[Screen], terms: Terms) -> EffectiveSet:
        """Screen every tool of the snapshot; rules, validators and hooks are compiled at a tool's first use."""
        effective = cls(registry, snapshot, screens, terms)
        for name, tool in snapshot.items():
            effective._place(name, tool)
        return effective

    def following(self, snapshot: Snapshot) -> EffectiveSet:
        """This set after the registry changed: only what changed is screened again."""
        if snapshot.generation == self.snapshot.generation:
            return self
        changed = snapshot.changed_since(self.snapshot)
        if changed is None:
            return EffectiveSet.compile(self._registry, snapshot, self._screens, self.terms)
        fresh = EffectiveSet(self._registry, snapshot, self._screens, self.terms)
        fresh.out, fresh._tools, fresh._slots = self.out.copy(), self._tools.copy(), self._slots.copy()
        fresh._offered, fresh._drifted = self._offered.copy(), self._drifted - changed
        for name in changed:
            for table in (fresh.out, fresh._tools, fresh._offered, fresh._slots):
                table.pop(name, None)
            if (tool := snapshot.get(name)) is not None:
                fresh._place(name, tool)
        return fresh

    def _place(self, name: str, tool: Tool) -> None:
        spec = tool.spec
        for screen in self._screens:
            if (reason := screen(spec)) is not None:
                self.out[name] = reason
                return
        post = self.terms.post
        if post is not None and (reason := post.hides(tool)) is not None:
            self.out[name] = reason
            self._drifted.add(name)
            return
        self._tools[name] = tool
        if self.terms.situation.mode == Mode.PLAN and spec.effect is Effect.WRITE:
            self._offered[name] = reading_form(spec)

    def reconsider(self, name: str, reason: str | None) -> None:
        """Put one tool out for a reason that lies in the set as a whole, or judge it again without it."""
        for table in (self.out, self._tools, self._slots):
            table.pop(name, None)
        if reason is not None:
            self.out[name] = reason
        elif (tool := self.snapshot.get(name)) is not None:
            self._place(name, tool)

    def require(self, name: str) -> Slot:
        """The slot of a tool that may run here; otherwise a refusal that names what would work."""
        slot = self._slots.get(name)
        return slot if slot is not None else self._first_use(name)

    def lane(self, call: ToolCall) -> Lane:
        """How to schedule a call before it is settled; an unknown tool counts as a read."""
        tool = self._tools.get(name := self.canonical(call.name))
        if tool is None:
            return Lane.READ
        lane = tool.spec.lane
        if lane is Lane.WRITE and tool.spec.read_form is not None:
            return Lane.READ if self._reads(name, call) else lane
        return lane

    def canonical(self, name: str) -> str:
        """The canonical name for a name that may have been sent through a provider."""
        return name if name in self._tools else self.names.canonical(name)

    @property
    def names(self) -> NameTable:
        """Canonical and provider-safe names of this set."""
        if self._table is None:
            self._table = NameTable.build(self._tools, PROVIDER_LIMIT)
        return self._table

    @property
    def specs(self) -> list[ToolSpec]:
        """The tools as they are offered here: in plan mode, some only in the form that reads."""
        return [self._offered.get(name, tool.spec) for name, tool in self._tools.items()]

    def advertised(
        self, provider: str, advertiser: Callable[[Iterable[ToolSpec], NameTable, str], list[JsonObject]]
    ) -> list[JsonObject]:
        """The provider's tool list for this set, made once."""
        known = self._lists.get(provider)
        if known is None:
            known = self._lists[provider] = advertiser(self.specs, self.names, provider)
        return list(known)

    def why(self, name: str) -> str | None:
        """Why a tool is out; None when it is in."""
        if name in self._tools:
            return None
        return self.out.get(name, "no tool has this name")

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def _first_use(self, name: str) -> Slot:
        tool = self._tools.get(name) or self._tools.get(self.canonical(name))
        if tool is None:
            reason = Reason.CONTRACT_DRIFT if name in self._drifted else Reason.TOOL_NOT_AVAILABLE
            raise Refusal(reason, self._not_available(name), {"tool": name})
        slot = self._slots.get(tool.name)
        if slot is None:
            slot = self._slots[tool.name] = self._compile(tool)
        return slot

    def _compile(self, tool: Tool) -> Slot:
        terms, spec = self.terms, tool.spec
        hooks = [hook for hook in terms.hooks if hook.matches(spec)]
        write_ahead = (
            spec.effect is Effect.WRITE or spec.lane is Lane.AGENT or spec.dangerous
        ) and not tool.transactional
        return Slot(
            tool=tool,
            checks=self._registry.checks(tool),
            ruling=terms.policy.ruling(spec, terms.situation),
            before=tuple(hook for hook in hooks if hook.event is HookEvent.PRE_TOOL_USE),
            after=tuple(hook for hook in hooks if hook.event is HookEvent.POST_TOOL_USE),
            timeout=min(spec.timeout or terms.default_timeout, terms.max_timeout),
            buckets=self._buckets(spec.name),
            lane=spec.lane,
            write_ahead=write_ahead,
            judge=terms.judge,
            reading=terms.policy.ruling(spec, terms.situation, Effect.READ) if spec.read_form is not None else None,
            mode=Mode(terms.situation.mode),
            session_rates=tuple(_matching(terms.rates.session, spec.name)),
            guarded=not is_polling(spec),
            untrusted=is_untrusted(spec),
            drift=None if terms.post is None else terms.post.refuses(tool),
        )

    def _buckets(self, name: str) -> tuple[Bucket, ...]:
        """Every rate limit whose pattern fits: each tool has its own bucket of each, and each agent."""
        meters, rates, agent = self.terms.meters, self.terms.rates, self.terms.agent_id
        if meters is None:
            return ()
        own = [meters.bucket("tool", pattern, name, rate) for pattern, rate in _matching(rates.tool, name)]
        of_agent = [meters.bucket("agent", pattern, agent, rate) for pattern, rate in _matching(rates.agent, name)]
        return (*own, *of_agent)

    def _reads(self, name: str, call: ToolCall) -> bool:
        checks = self.require(name).checks
        try:
            arguments = arguments_of(call.arguments)
        except Refusal:
            return False
        return checks.read_form is not None and checks.read_form.is_valid(arguments)

    def _not_available(self, name: str) -> str:
        if (reason := self.out.get(name)) is not None:
            return f"{name} is not available in this run: {reason}"
        if (absence := self._registry.absence(self.canonical(name))) is not None:
            return f"{name[:80]} is not available now: {absence}"
        near = _called_so(name, self._tools) or near_names(name, self._tools)
        has = f"this run has {len(self._tools)} tools" + (f", and {SEARCH} finds them" if SEARCH in self._tools else "")
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; {has}"
        return f"there is no tool {name[:80]!r} here{hint}"


def _matching(rates: Mapping[str, Rate], name: str) -> list[tuple[str, Rate]]:
    return [(pattern, rate) for pattern, rate in rates.items() if compile_pattern(pattern).fullmatch(name)]


def _called_so(name: str, tools: Mapping[str, Tool], most: int = 3) -> list[str]:
    """The tools that have it as another name: those are for finding, a call wants the name itself."""
    from toolcrib.catalog.index.words import key_of  # only where a name was wrong

    key = key_of(name[:100])
    return [known for known, tool in tools.items() if key and key in map(key_of, tool.spec.aliases)][:most]


def near_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Names a caller may have meant: same words, same last part, or close spelling."""
    wanted = name.lower().replace("__", ".")[:100]
    tail = wanted.rsplit(".", 1)[-1]
    same = [known for known in names if known.lower() == wanted or known.lower().rsplit(".", 1)[-1] == tail]
    if same:
        return same[:most]
    alike = [known for known in names if abs(len(known) - len(wanted)) <= 8 and known[:1].lower() == wanted[:1]]
    return difflib.get_close_matches(wanted, alike[:500], n=most, cutoff=0.6)
