"""Which dialect a model was trained on, by its name. Users put their own patterns before these."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

MODELS: Mapping[str, str] = {
    "*qwen3-coder*": "qwen3_coder",
    "*qwen3.5*": "qwen3_coder",
    "*qwen*": "hermes",
    "*qwq*": "hermes",
    "*hermes*": "hermes",
    "*smollm*": "hermes",
    "*glm-4.5*": "glm45",
    "*glm-4.6*": "glm45",
    "*glm-4.7*": "glm47",
    "*glm-5*": "glm47",
    "*glm*": "glm4",
    "*deepseek-v4.1*": "deepseek_v41",
    "*deepseek-v4*": "deepseek_v4",
    "*deepseek-v3.2*": "deepseek_v32",
    "*deepseek-v3.1*": "deepseek_v31",
    "*deepseek-v3*": "deepseek_v3",
    "*deepseek-r1*": "deepseek_v3",
    "*deepseek*": "deepseek",
    "*minimax-m3*": "minimax_m3",
    "*minimax-m2*": "minimax_m2",
    "*minimax*": "minimax",
    "*kimi-k3*": "kimi_k3",
    "*kimi*": "kimi_k2",
    "*mistral-7b*": "mistral_pre_v11",
    "*mixtral*": "mistral_pre_v11",
    "*mistral*": "mistral",
    "*ministral*": "mistral",
    "*magistral*": "mistral",
    "*devstral*": "mistral",
    "*llama-4*": "llama4_pythonic",
    "*llama-3.2*": "pythonic",
    "*llama-3*": "llama3_json",
    "*llama3*": "llama3_json",
    "*gpt-oss*": "gpt_oss",
    "*functiongemma*": "functiongemma",
    "*gemma-4*": "gemma4",
    "*granite-4*": "granite4",
    "*granite-3.1*": "granite31",
    "*granite*": "granite",
    "*lfm2*": "lfm2",
    "*olmo-3*": "olmo3",
    "*phi-4-mini*": "phi4_mini",
    "*command-r-plus*": "command_r_plus",
    "*command-a*": "cohere_command3",
    "*jamba*": "jamba",
    "*hunyuan*": "hunyuan_a13b",
    "*ernie*": "ernie45",
    "*internlm*": "internlm",
    "*intern-s1*": "interns1",
    "*step-3.5*": "step3p5",
    "*step-3*": "step3",
    "*seed-oss*": "seed_oss",
    "*mimo*": "mimo",
    "*minicpm*": "minicpm5",
    "*nemotron*": "nemotron_nano_v2",
    "*xlam*": "xlam",
    "*apertus*": "apertus",
    "*longcat*": "longcat",
    "*gigachat*": "gigachat3",
    "*plamo*": "plamo3",
    "*ling-3*": "ling3",
    "*claude*": "anthropic_xml",
}
FALLBACK = "hermes"


def dialect_for(model: str, own: Mapping[str, str] | None = None) -> str:
    """The dialect of a model. Patterns of your own come first; among patterns that match, the longest counts."""
    name = model.lower()
    for table in (own or {}, MODELS):
        matching = [pattern for pattern in table if fnmatchcase(name, pattern.lower())]
        if matching:
            return table[max(matching, key=len)]
    return FALLBACK
