"""Presets: known agents that speak the Agent Client Protocol, with their command and the variables they need."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    passed: tuple[str, ...] = ()
    """Variables that this agent gets in addition to those that every agent gets."""
    install: str
    log_in: str
    tells_version: bool = True
    """Whether it answers `--version`."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables that hold its keys."""
        return tuple(name for name in self.passed if name.endswith(("_KEY", "_TOKEN", "_CREDENTIALS")))


_ANTHROPIC = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN")
_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
_GOOGLE = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_*", "GOOGLE_GENAI_*")
_OTHERS = ("OPENROUTER_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY")

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "opencode": Preset(
            argv=("opencode", "acp", "--print-logs", "--log-level", "ERROR"),
            passed=(*_ANTHROPIC, *_OPENAI, *_GOOGLE, *_OTHERS, "OPENCODE_API_KEY"),
            install="Install it with: npm install -g opencode-ai",
            log_in="Log in with `opencode auth login`, or set the provider's API key.",
        ),
        "gemini": Preset(
            argv=("gemini", "--acp"),
            passed=_GOOGLE,
            install="Install it with: npm install -g @google/gemini-cli",
            log_in="Log in by starting `gemini`, or set GEMINI_API_KEY.",
        ),
        "qwen": Preset(
            argv=("qwen", "--acp"),
            passed=(*_OPENAI, "OPENAI_MODEL", "DASHSCOPE_API_KEY"),
            install="Install it with: npm install -g @qwen-code/qwen-code",
            log_in="Log in by starting `qwen`, or set OPENAI_API_KEY and OPENAI_BASE_URL.",
        ),
        "goose": Preset(
            argv=("goose", "acp"),
            passed=(*_ANTHROPIC, *_OPENAI, *_GOOGLE, *_OTHERS, "GOOSE_*"),
            install="Install it as https://goose-docs.ai tells.",
            log_in="Choose a provider with `goose configure`.",
        ),
        "claude-code-acp": Preset(
            argv=("claude-agent-acp",),
            passed=(*_ANTHROPIC, "CLAUDE_CONFIG_DIR"),
            install="Install it with: npm install -g @agentclientprotocol/claude-agent-acp",
            log_in="Log in by starting `claude`, or set ANTHROPIC_API_KEY.",
            tells_version=False,
        ),
        "codex-acp": Preset(
            argv=("codex-acp",),
            passed=(*_OPENAI, "CODEX_API_KEY", "CODEX_HOME"),
            install="Install it with: npm install -g @agentclientprotocol/codex-acp",
            log_in="Log in with `codex login`: it takes no key from the environment.",
            tells_version=False,
        ),
    }
)

OTHER = Preset(
    argv=(),
    install="Install it, or correct the agent's argv in your configuration.",
    log_in="Log in by starting this agent yourself, or name the variable of its key in pass_env.",
    tells_version=False,
)
