"""The page of settings: those of Paddock, and keys of YuniKorn without effect."""

from collections.abc import Mapping

from extender.configuration.flags import default_of, flag_of, metavar_of
from extender.configuration.settings import KEYS, NOT_RELOADABLE, Settings
from extender.configuration.values import MEMORY
from extender.wire.service_keys import (
    BATCH_SIZE,
    CLUSTER_ID,
    HEALTH_INTERVAL,
    POLICY_GROUP,
    RING_CAPACITY,
    SERVICE_KEYS,
    STREAMS,
    STREAMS_PER_HOST,
    TRACKING,
)
from tests.documents.reference.markdown import code, codes, page, sentence, table
from tests.interfaces.comparing import recorded_lines

_INTRO = """\
# Settings

Settings are keys of the ConfigMap `yunikorn-configs`, beside the queue document. Each is also a flag of
`paddock serve` and an environment variable.
A flag wins over a variable, and a variable over a key.

The variable of `--turn-lease` is `PADDOCK_TURN_LEASE`, and so on. Durations are written as in Go: `30s`,
`500ms`, `1m30s`.
A value that cannot be read refuses the whole edit, with any change of queues in it."""

_DOCUMENT = f"""\
{code(POLICY_GROUP)} ({code(SERVICE_KEYS[POLICY_GROUP].default)}, restart) names the queue document.
Its key is that value with `.yaml`, so `queues.yaml`. This setting is neither a flag nor a variable."""

_REST = """\
## Keys of the REST interface

Keys of YuniKorn that its REST interface reads. These are neither flags nor variables. A value that cannot be
read, or a number below 1, counts as the default."""

_REST_MEANINGS = {
    CLUSTER_ID: "Id of the cluster in answers.",
    HEALTH_INTERVAL: "Time between two rounds of health checks; `0s` for the first round only.",
    TRACKING: "`false`: no events are remembered, and their routes answer 500.",
    RING_CAPACITY: "Events that are remembered.",
    STREAMS: "Open event streams, in all.",
    STREAMS_PER_HOST: "Open event streams that name the same host.",
    BATCH_SIZE: "Events of one answer.",
}

_WITHOUT = """\
## Keys of YuniKorn without effect

Paddock accepts these keys, and `paddock check` says for each that nothing comes of it.
With *yes* in the last column, a value that YuniKorn could not read refuses the edit all the same."""


def settings_page() -> str:
    """Every setting, then every key that is accepted and does nothing."""
    given = _recorded()
    works = [
        (
            code(key),
            code(default_of(name)),
            _values(name, given[key]),
            "restart" if name in NOT_RELOADABLE else "at once",
            sentence(Settings.model_fields[name].description or ""),
        )
        for key, name in sorted(KEYS.items())
    ]
    return page(
        _INTRO,
        "## Settings of Paddock",
        table(("key", "default", "values", "in force", "meaning"), works),
        "## The key of the queue document",
        _DOCUMENT,
        "## Flags",
        table(("key", "flag"), ((code(key), code(flag_of(name))) for key, name in sorted(KEYS.items()))),
        _REST,
        table(
            ("key", "default", "in force", "meaning"),
            (
                (
                    code(key),
                    code(SERVICE_KEYS[key].default),
                    "restart" if SERVICE_KEYS[key].needs_restart else "at once",
                    meaning,
                )
                for key, meaning in sorted(_REST_MEANINGS.items())
            ),
        ),
        _WITHOUT,
        table(
            ("key", "default in YuniKorn", "why it has no effect", "refuses"),
            (
                (code(key.name), code(key.default), key.no_effect, "yes" if key.refuses else "no")
                for key in SERVICE_KEYS.values()
                if key.no_effect
            ),
        ),
    )


def _recorded() -> Mapping[str, str]:
    """Line of the golden file for each key."""
    return {line.partition(" ")[0]: line for line in recorded_lines("settings")}


def _values(name: str, recorded: str) -> str:
    """The words that a setting takes, or its type with the unit."""
    taken = next((part for part in recorded.split() if part.startswith("takes=")), "")
    if taken:
        return codes(sorted(taken.removeprefix("takes=").split(",")))
    default = Settings.model_fields[name].default
    if isinstance(default, float):
        return "duration"
    if metavar_of(name) == MEMORY.metavar:
        return "quantity"
    if isinstance(default, int):
        return "number"
    return "names, comma-separated" if isinstance(default, frozenset) else "text"
