"""What showing tools costs: definitions of real MCP servers, all at once and by need, over a session of ten calls."""

import random
from collections.abc import Iterator, Sequence

from bench.search.data import Tool
from toolcrib.catalog.discovery.cost import catalog_cost, tool_cost
from toolcrib.catalog.discovery.showing import Showing
from toolcrib.catalog.tokens_estimate import TokenEstimator
from toolcrib.toolsets.tools import SPEC
from toolcrib.values.refusal import InvalidName
from toolcrib.values.spec import ToolSpec

SIZES = (10, 20, 50, 100, 500, 2_000)
SAMPLES = 5


def measure_tokens(tools: Sequence[Tool]) -> Iterator[tuple[str, str]]:
    """Rows of (what, measured); each size is the mean of several samples of the tools."""
    estimator = TokenEstimator()
    specs = list(_specs(tools))
    costs = [tool_cost(spec, estimator) for spec in specs]
    means = [sum(getattr(cost, form) for cost in costs) / len(costs) for form in ("definition", "signature", "line")]
    yield f"{len(specs):,} MCP tools: definition / signature with line / line", " / ".join(f"{m:.0f}" for m in means)
    yield "tools.search and tools.call together", f"{catalog_cost(specs[:1], SPEC, Showing(), estimator).meta} tokens"
    chance = random.Random(11)
    for size in SIZES:
        samples = [_sample(specs, size, chance) for _ in range(SAMPLES)]
        told = [catalog_cost(sample, SPEC, Showing(), estimator) for sample in samples]
        saving = sum(each.saving for each in told) / len(told)
        start = max(each.append.start for each in told)
        modes = "/".join(sorted({each.chosen.value for each in told}))
        yield f"{size:,} tools, ten calls, ten searches: saved against eager", f"{saving:.0%} ({modes}; start {start})"


def _sample(specs: list[ToolSpec], size: int, chance: random.Random) -> list[ToolSpec]:
    """`size` tools without repetition while there are enough."""
    return chance.sample(specs, size) if size <= len(specs) else [*specs, *chance.choices(specs, k=size - len(specs))]


def _specs(tools: Sequence[Tool]) -> Iterator[ToolSpec]:
    for tool in tools:
        try:
            yield ToolSpec(name=tool.name, description=tool.description, input_schema=tool.input_schema)  # type: ignore[arg-type]
        except InvalidName:
            continue
