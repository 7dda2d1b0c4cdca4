"""OpenTelemetry's conventions for generative AI: names of attributes, and what counts as what.

They are in development and change; all that depends on their words is here. Their metrics and spans count as input
what was read from a cache or written to it, too.
"""

from __future__ import annotations

import msgspec

from aotloop.core.model import Used

OWN = "aotloop"
"""For work that no known provider does, such as commands."""
PROVIDERS = {"claude": "anthropic", "codex": "openai"}
"""By the kind of client. Other clients speak with many providers, and do not say with which."""

TOKEN_BOUNDS = tuple(float(4**power) for power in range(14))
"""As the conventions advise; for the duration, too, and further, because attempts last for minutes."""
SECOND_BOUNDS = tuple(0.01 * 2**power for power in range(20))


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Of which operation something is measured."""

    agent: str
    provider: str = OWN
    role: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        known = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": self.provider,
            "gen_ai.agent.name": self.agent,
        }
        return {**known, "aotloop.role": self.role} if self.role else known


def input_of(used: Used) -> int:
    return used.input + used.cache_read + used.cache_write


def tokens_of(used: Used) -> dict[str, int]:
    return {
        "gen_ai.usage.input_tokens": input_of(used),
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": used.cache_write,
    }
