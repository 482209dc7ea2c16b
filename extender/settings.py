"""Settings: their keys, their defaults, and where they come from.

One model for the keys of the `yunikorn-configs` ConfigMap that Paddock reads (design section 12, SRC-4), the
flags and the environment. A flag wins over an environment variable, that over a ConfigMap key.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core.errors import PaddockError
from core.ledger.settings import LedgerSettings


class SettingsError(PaddockError):
    """A setting that cannot be read. Names the key."""


_UNIT = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+", re.ASCII)
_PART = re.compile(r"([\d.]+)(ns|us|µs|ms|s|m|h)")


def seconds_of(text: str) -> float:
    """A Go duration such as ``1m30s`` in seconds. Raises ValueError."""
    if not _DURATION.fullmatch(text):
        raise ValueError("must be a duration such as 30s, 500ms or 1m30s")
    return sum(float(amount) * _UNIT[unit] for amount, unit in _PART.findall(text))


def _duration(value: Any) -> float:
    seconds = seconds_of(value) if isinstance(value, str) else float(value)
    if seconds <= 0:
        raise ValueError("must be above zero")
    return seconds


def _names(value: Any) -> frozenset[str]:
    names = value.split(",") if isinstance(value, str) else list(value)
    found = frozenset(name.strip() for name in names if name.strip())
    if not found:
        raise ValueError("must name at least one scheduler")
    return found


def _switch(value: Any) -> bool:
    """As Go's ParseBool reads it."""
    text = str(value)
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise ValueError("must be true or false")


def _lease(value: Any) -> str:
    text = str(value)
    if text and not re.fullmatch(r"[a-z0-9.-]{1,253}/[a-z0-9.-]{1,253}", text):
        raise ValueError("must be empty or namespace/name")
    return text


Duration = Annotated[float, BeforeValidator(_duration)]
Names = Annotated[frozenset[str], BeforeValidator(_names)]
Switch = Annotated[bool, BeforeValidator(_switch)]
LeaseName = Annotated[str, BeforeValidator(_lease)]


class Settings(BaseModel):
    """Everything that can be set. Aliases are the ConfigMap's keys; durations are seconds here."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="ignore")

    scheduler_names: Names = Field(default=frozenset({"yunikorn", "paddock"}), alias="paddock.schedulerNames")
    reservation_ttl: Duration = Field(default=30.0, alias="paddock.reservation.ttl")
    turn_lease: Duration = Field(default=2.0, alias="paddock.turn.lease")
    bind_deadline: Duration = Field(default=100.0, alias="paddock.bind.deadline")
    lease: LeaseName = Field(default="", alias="paddock.lease")
    unique_app_ids: Switch = Field(default=False, alias="admissionController.filtering.generateUniqueAppId")
    hot_refresh: Switch = Field(default=True, alias="service.enableConfigHotRefresh")

    @property
    def ledger(self) -> LedgerSettings:
        """The part that the ledger lives by."""
        return LedgerSettings(
            self.scheduler_names, self.reservation_ttl, self.turn_lease, self.unique_app_ids
        )


NOT_RELOADABLE = frozenset({"bind_deadline", "lease", "unique_app_ids"})
"""Settings that keep their value until a restart (SRC-6)."""


def settings_from(config_map: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    """Defaults, then a ConfigMap's keys, then what flags and environment say (field names).

    Raises `SettingsError`: one value that cannot be read refuses them all (SRC-5). Unknown keys are ignored.
    """
    aliases = {field.alias: name for name, field in Settings.model_fields.items()}
    values: dict[str, Any] = {aliases[key]: value for key, value in config_map.items() if key in aliases}
    try:
        return Settings(**{**values, **overrides})
    except ValidationError as error:
        raise SettingsError("; ".join(_words(each) for each in error.errors(include_input=False))) from None


def environment_from(environ: Mapping[str, str]) -> dict[str, str]:
    """Overrides in the environment: ``PADDOCK_`` and a field's name in capitals."""
    return {
        name: environ[variable]
        for name in Settings.model_fields
        if (variable := f"PADDOCK_{name.upper()}") in environ
    }


def reloaded(active: Settings, fresh: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Settings after a reload, and the names of those whose change needs a restart (SRC-6)."""
    held = {name: getattr(active, name) for name in NOT_RELOADABLE}
    changed = tuple(sorted(name for name, value in held.items() if getattr(fresh, name) != value))
    return fresh.model_copy(update=held), changed


def _words(error: Any) -> str:
    key = ".".join(str(step) for step in error["loc"])
    field = Settings.model_fields.get(key)
    return (
        f"{field.alias if field and field.alias else key}: {str(error['msg']).removeprefix('Value error, ')}"
    )
