"""Settings: their keys, their defaults, and where they come from.

One model for the keys of the `yunikorn-configs` ConfigMap that Paddock reads (DESIGN-12, SRC-4), the
flags and the environment. A flag wins over an environment variable, that over a ConfigMap key.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core import durations
from core.errors import PaddockError
from core.ledger.settings import LedgerSettings, PreemptionSettings
from extender.wire.host_names import host_names_from
from extender.wire.names import is_namespace_name, is_object_name
from extender.wire.placeholder import DEFAULT_PARTS, PlaceholderSettings, TemplateParts, template_parts_from
from extender.wire.service_keys import (
    GANGS_DISABLED,
    HOT_REFRESH,
    PLACEHOLDER_FS_GROUP,
    PLACEHOLDER_GROUP,
    PLACEHOLDER_IMAGE,
    PLACEHOLDER_USER,
    SERVICE_KEYS,
    UNIQUE_APP_IDS,
    bad_values,
    held_values,
    int64_of,
    switch_of,
)

NODE_SELECTIONS = ("scheduler", "policy")
"""Who chooses among nodes: kube-scheduler unless the document names a policy, or always a policy."""


class SettingsError(PaddockError):
    """Settings that cannot be read. ``wrong``: what is wrong, by the ConfigMap's key."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        self.wrong = dict(wrong)
        super().__init__("; ".join(f"{key}: {why}" for key, why in self.wrong.items()))


def seconds_of(text: str) -> float:
    """A Go duration without a sign, such as ``1m30s``, in seconds. Raises ValueError."""
    if text[:1] in ("+", "-"):
        raise ValueError("must be a duration such as 30s, 500ms or 1m30s, without a sign")
    return durations.seconds_of(text)


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


def _hosts(value: Any) -> frozenset[str]:
    return host_names_from(value if isinstance(value, str) else ",".join(value))


def _lease(value: Any) -> str:
    text = str(value)
    namespace, _, name = text.partition("/")
    if text and not (is_namespace_name(namespace) and is_object_name(name)):
        raise ValueError("must be empty or namespace/name")
    return text


def _count(value: Any) -> int:
    number = int64_of(str(value))
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _one_of(*words: str) -> BeforeValidator:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"must be {' or '.join(words)}")
        return str(value)

    return BeforeValidator(read)


Duration = Annotated[float, BeforeValidator(_duration)]
Names = Annotated[frozenset[str], BeforeValidator(_names)]
Switch = Annotated[bool, BeforeValidator(lambda value: switch_of(str(value)))]
Count = Annotated[int, BeforeValidator(_count)]
Id = Annotated[int, BeforeValidator(lambda value: int64_of(str(value)))]
Hosts = Annotated[frozenset[str], BeforeValidator(_hosts)]
LeaseName = Annotated[str, BeforeValidator(_lease)]
NodeSelection = Annotated[str, _one_of(*NODE_SELECTIONS)]
VictimSum = Annotated[str, _one_of("minimal", "yunikorn")]
Protected = Annotated[str, _one_of("own", "foreign")]
DaemonSets = Annotated[str, _one_of("yunikorn", "guarantees")]
ComplexAsks = Annotated[str, _one_of("verb", "tick")]
Template = Annotated[
    TemplateParts,
    BeforeValidator(
        lambda value: value if isinstance(value, TemplateParts) else template_parts_from(str(value))
    ),
]
AcrossNamespaces = Annotated[str, _one_of("never", "sameUser")]


class Settings(BaseModel):
    """Everything that can be set. Aliases are the ConfigMap's keys; durations are seconds here."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="ignore")

    scheduler_names: Names = Field(default=frozenset({"yunikorn", "paddock"}), alias="paddock.schedulerNames")
    reservation_ttl: Duration = Field(default=30.0, alias="paddock.reservation.ttl")
    turn_lease: Duration = Field(default=2.0, alias="paddock.turn.lease")
    bind_deadline: Duration = Field(default=100.0, alias="paddock.bind.deadline")
    lease: LeaseName = Field(default="", alias="paddock.lease")
    mark_failed: Switch = Field(default=False, alias="paddock.markFailed")
    node_selection: NodeSelection = Field(default="scheduler", alias="paddock.nodeSelection")
    preemption_victims: VictimSum = Field(default="minimal", alias="paddock.preemption.victims")
    preemption_may_exceed_guarantee: Switch = Field(
        default=False, alias="paddock.preemption.mayExceedGuarantee"
    )
    preemption_shared_ancestor_priority: Switch = Field(
        default=False, alias="paddock.preemption.sharedAncestorPriority"
    )
    preemption_protect_guarantees: Protected = Field(
        default="own", alias="paddock.preemption.protectGuarantees"
    )
    preemption_direct_delete: Switch = Field(default=False, alias="paddock.preemption.directDelete")
    preemption_complex_asks: ComplexAsks = Field(default="verb", alias="paddock.preemption.complexAsks")
    applications_across_namespaces: AcrossNamespaces = Field(
        default="never", alias="paddock.applications.acrossNamespaces"
    )
    preemption_daemon_sets: DaemonSets = Field(default="yunikorn", alias="paddock.preemption.daemonSets")
    metrics_queue_names: Switch = Field(default=True, alias="paddock.metrics.queueNames")
    zero_max_blocks: Switch = Field(default=False, alias="paddock.zeroMaxBlocks")
    builtin_default: Switch = Field(default=False, alias="paddock.config.builtinDefault")
    unique_app_ids: Switch = Field(default=False, alias=UNIQUE_APP_IDS)
    hot_refresh: Switch = Field(default=True, alias=HOT_REFRESH)
    gangs_disabled: Switch = Field(default=False, alias=GANGS_DISABLED)
    gang_max_pods: Count = Field(default=10_000, alias="paddock.gang.maxPods")
    gang_template: Template = Field(default=DEFAULT_PARTS, alias="paddock.gang.template")
    placeholder_image: str = Field(default=SERVICE_KEYS[PLACEHOLDER_IMAGE].default, alias=PLACEHOLDER_IMAGE)
    placeholder_run_as_user: Id = Field(default=0, alias=PLACEHOLDER_USER)
    placeholder_run_as_group: Id = Field(default=0, alias=PLACEHOLDER_GROUP)
    placeholder_fs_group: Id = Field(default=0, alias=PLACEHOLDER_FS_GROUP)
    rest_hosts: Hosts = Field(default=frozenset(), alias="paddock.rest.hosts")

    @property
    def ledger(self) -> LedgerSettings:
        """The part that the ledger lives by."""
        return LedgerSettings(
            self.scheduler_names,
            self.reservation_ttl,
            self.turn_lease,
            self.unique_app_ids,
            self.mark_failed,
            self.node_selection == "policy",
            PreemptionSettings(
                self.preemption_victims == "yunikorn",
                self.preemption_may_exceed_guarantee,
                self.preemption_shared_ancestor_priority,
                self.preemption_protect_guarantees == "foreign",
                self.preemption_direct_delete,
                self.preemption_complex_asks == "tick",
                self.preemption_daemon_sets == "guarantees",
            ),
            gangs=not self.gangs_disabled,
            gang_max_pods=self.gang_max_pods,
            bind_deadline=self.bind_deadline,
            shares_applications=self.applications_across_namespaces == "sameUser",
        )

    @property
    def placeholders(self) -> PlaceholderSettings:
        """The part that placeholders are made by."""
        return PlaceholderSettings(
            self.placeholder_image,
            self.placeholder_run_as_user,
            self.placeholder_run_as_group,
            self.placeholder_fs_group,
            self.gang_template,
        )


NOT_RELOADABLE = frozenset(
    {
        *("bind_deadline", "builtin_default", "gangs_disabled", "lease", "unique_app_ids"),
        *("placeholder_image", "placeholder_run_as_user", "placeholder_run_as_group", "placeholder_fs_group"),
    }
)
"""Settings that keep their value until a restart (SRC-6)."""

KEYS: Mapping[str, str] = {str(field.alias): name for name, field in Settings.model_fields.items()}
"""The ConfigMap's keys that are settings, each with its field."""

_ALIASES = {name: key for key, name in KEYS.items()}


def settings_from(config_map: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    """Defaults, then a ConfigMap's keys, then what flags and environment say (field names).

    Raises `SettingsError`: one value that cannot be read refuses them all, also where YuniKorn would read it
    and nothing comes of it here (SRC-5). Unknown keys are ignored.
    """
    wrong = bad_values(config_map)
    values: dict[str, Any] = {KEYS[key]: value for key, value in config_map.items() if key in KEYS}
    try:
        settings = Settings(**{**values, **overrides})
    except ValidationError as error:
        wrong |= dict(_key_and_words(each) for each in error.errors(include_input=False))
        raise SettingsError(wrong) from None
    if wrong:
        raise SettingsError(wrong)
    return settings


def environment_from(environ: Mapping[str, str]) -> dict[str, str]:
    """Overrides in the environment: ``PADDOCK_`` and a field's name in capitals."""
    return {
        name: environ[variable]
        for name in Settings.model_fields
        if (variable := f"PADDOCK_{name.upper()}") in environ
    }


def reloaded(active: Settings, fresh: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Settings after a reload, and the keys of those whose change needs a restart (SRC-6)."""
    held = {name: getattr(active, name) for name in NOT_RELOADABLE}
    changed = sorted(_ALIASES[name] for name, value in held.items() if getattr(fresh, name) != value)
    return fresh.model_copy(update=held), tuple(changed)


def held_service_values(config_map: Mapping[str, str]) -> dict[str, object]:
    """The values, by key, of what is no setting here and must not change before a restart either (SRC-6).

    The ConfigMap has passed `settings_from`.
    """
    return held_values(config_map, but=KEYS)


def _key_and_words(error: Any) -> tuple[str, str]:
    place = ".".join(str(step) for step in error["loc"])
    return _ALIASES.get(place, place), str(error["msg"]).removeprefix("Value error, ")
