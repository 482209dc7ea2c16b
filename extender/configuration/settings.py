"""Settings, with their keys, defaults, meanings and sources.

The same model serves the ConfigMap ``yunikorn-configs`` (DESIGN-12, SRC-4), flags and environment variables.
A flag wins over a variable, and a variable over a key of the ConfigMap.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import PaddockError
from core.ledger.settings import LedgerSettings, PreemptionSettings
from extender.configuration.values import (
    COUNT,
    DURATION,
    HOSTS,
    ID,
    IMAGE,
    LEASE,
    MEMORY,
    NAMES,
    ORIGINS,
    PORT,
    SWITCH,
    TEMPLATE,
    one_of,
)
from extender.wire.placeholder import DEFAULT_PARTS, PlaceholderSettings, TemplateParts
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
)

NODE_SELECTIONS = ("scheduler", "policy")
"""The choice among nodes: by kube-scheduler unless the document names a policy, or always by a policy."""


class SettingsError(PaddockError):
    """Invalid settings. ``wrong``: an error for each key of the ConfigMap."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        self.wrong = dict(wrong)
        super().__init__("; ".join(f"{key}: {why}" for key, why in self.wrong.items()))


Duration = Annotated[float, DURATION]
Names = Annotated[frozenset[str], NAMES]
Switch = Annotated[bool, SWITCH]
Count = Annotated[int, COUNT]
Id = Annotated[int, ID]
Memory = Annotated[int, MEMORY]
Hosts = Annotated[frozenset[str], HOSTS]
Origins = Annotated[frozenset[str], ORIGINS]
Port = Annotated[int, PORT]
RestAccess = Annotated[str, one_of("token", "open")]
LeaseName = Annotated[str, LEASE]
Image = Annotated[str, IMAGE]
NodeSelection = Annotated[str, one_of(*NODE_SELECTIONS)]
VictimSum = Annotated[str, one_of("minimal", "yunikorn")]
Protected = Annotated[str, one_of("own", "foreign")]
DaemonSets = Annotated[str, one_of("yunikorn", "guarantees")]
ComplexAsks = Annotated[str, one_of("verb", "tick")]
Template = Annotated[TemplateParts, TEMPLATE]
AcrossNamespaces = Annotated[str, one_of("never", "sameUser")]


class Settings(BaseModel):
    """All settings. Aliases are keys of the ConfigMap, descriptions are help texts. Durations: seconds."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="ignore")

    scheduler_names: Names = Field(
        default=frozenset({"yunikorn", "paddock"}),
        alias="paddock.schedulerNames",
        description="Scheduler names whose pods are managed",
    )
    reservation_ttl: Duration = Field(
        default=30.0,
        alias="paddock.reservation.ttl",
        description="Time for which quota is held for a pod between filter and bind",
    )
    turn_lease: Duration = Field(
        default=2.0,
        alias="paddock.turn.lease",
        description="Time within which a pod must reach filter after it got its turn, unless "
        "kube-scheduler is busy with other pods (DESIGN-3). Keep "
        "`podMaxBackoffSeconds` of kube-scheduler below it",
    )
    bind_deadline: Duration = Field(
        default=100.0,
        alias="paddock.bind.deadline",
        description="Longest time of a bind call. Keep it below `httpTimeout` of the bind entry",
    )
    lease: LeaseName = Field(
        default="",
        alias="paddock.lease",
        description="Lease of kube-scheduler, as `namespace/name`. This instance admits and acts only while "
        "the kube-scheduler beside it holds the Lease, so leader election must be on. Empty: it always acts",
    )
    mark_failed: Switch = Field(
        default=False,
        alias="paddock.markFailed",
        description="`true`: pods of a rejected application are set to Failed. `false`: they wait, with an "
        "Event",
    )
    node_selection: NodeSelection = Field(
        default="scheduler",
        alias="paddock.nodeSelection",
        description="`scheduler`: kube-scheduler chooses the node, unless the document names a "
        "`nodesortpolicy.type`. `policy`: Paddock always ranks the nodes, by `fair` where none is "
        "named. Needs a configuration that calls prioritize",
    )
    preemption_victims: VictimSum = Field(
        default="minimal",
        alias="paddock.preemption.victims",
        description="`minimal`: free capacity is used first, and only as many victims as needed are evicted. "
        "`yunikorn`: the victims alone must cover the whole ask",
    )
    preemption_may_exceed_guarantee: Switch = Field(
        default=False,
        alias="paddock.preemption.mayExceedGuarantee",
        description="`false`: the whole ask must fit into what its queue lacks. `true`: it may bring its "
        "queue above the guarantee",
    )
    preemption_shared_ancestor_priority: Switch = Field(
        default=False,
        alias="paddock.preemption.sharedAncestorPriority",
        description="`true`: offsets and fences of a common parent count for the priority of victims, as in "
        "YuniKorn",
    )
    preemption_protect_guarantees: Protected = Field(
        default="own",
        alias="paddock.preemption.protectGuarantees",
        description="`own`: guarantees hold between queues. `foreign`: they also hold against pods without a "
        "queue",
    )
    preemption_direct_delete: Switch = Field(
        default=False,
        alias="paddock.preemption.directDelete",
        description="`true`: victims are deleted. `false`: they are evicted, so that PodDisruptionBudgets "
        "hold",
    )
    preemption_complex_asks: ComplexAsks = Field(
        default="verb",
        alias="paddock.preemption.complexAsks",
        description="`verb`: asks with volumes, host ports or required terms between pods get a plan only "
        "when kube-scheduler asks. `tick`: also without that",
    )
    applications_across_namespaces: AcrossNamespaces = Field(
        default="never",
        alias="paddock.applications.acrossNamespaces",
        description="`never`: an application id belongs to one namespace. `sameUser`: pods of one user share "
        "an application across namespaces, except those of `nobody`",
    )
    messages_other_names: Switch = Field(
        default=True,
        alias="paddock.messages.otherNames",
        description="`true`: Events, conditions and refusals name pods of other users. `false`: they name "
        "only the queues of those pods",
    )
    preemption_daemon_sets: DaemonSets = Field(
        default="yunikorn",
        alias="paddock.preemption.daemonSets",
        description="`yunikorn`: a pod of a DaemonSet evicts by priority alone. `guarantees`: it evicts no "
        "pod of equal priority and none that a guarantee protects",
    )
    metrics_queue_names: Switch = Field(
        default=True,
        alias="paddock.metrics.queueNames",
        description="`true`: each queue also has series named after its path, which YuniKorn's published "
        "dashboard asks for. `false`: it has none (METRIC-18)",
    )
    zero_max_blocks: Switch = Field(
        default=False,
        alias="paddock.zeroMaxBlocks",
        description="`false`: a `max` of nothing but zeros is no limit. `true`: it blocks the queue",
    )
    builtin_default: Switch = Field(
        default=False,
        alias="paddock.config.builtinDefault",
        description="`false`: without a document Paddock is not ready. `true`: it starts with YuniKorn's "
        "built-in queues, which have no limits",
    )
    unique_app_ids: Switch = Field(
        default=False,
        alias=UNIQUE_APP_IDS,
        description="`true`: each pod without an application id is an application of its own. `false`: such "
        "pods share one per namespace",
    )
    hot_refresh: Switch = Field(
        default=True,
        alias=HOT_REFRESH,
        description="`false`: edits of the ConfigMaps have no effect before a restart",
    )
    gangs_disabled: Switch = Field(
        default=False, alias=GANGS_DISABLED, description="`true`: task groups are ignored"
    )
    gang_max_pods: Count = Field(
        default=10_000, alias="paddock.gang.maxPods", description="Most placeholders of one gang"
    )
    queues_max_dynamic: Count = Field(
        default=1_000,
        alias="paddock.queues.maxDynamic",
        description="Most dynamic queues below one configured queue",
    )
    queues_max_dynamic_total: Count = Field(
        default=10_000,
        alias="paddock.queues.maxDynamicTotal",
        description="Most dynamic queues in all",
    )
    history_max_memory: Memory = Field(
        default=96 * 2**20,
        alias="paddock.history.maxMemory",
        description="Most memory for the past of queues, as a quantity from `8Mi` to `1Gi`. Beyond it "
        "the oldest samples become coarser first. `0`: no past is recorded",
    )
    gang_template: Template = Field(
        default=DEFAULT_PARTS,
        alias="paddock.gang.template",
        description="How placeholders get parts of their task group: `any` copies a part unchanged, "
        "`originator` copies only what the gang's first pod has, too. One word alone applies to all three "
        "parts",
    )
    placeholder_image: Image = Field(
        default=SERVICE_KEYS[PLACEHOLDER_IMAGE].default,
        alias=PLACEHOLDER_IMAGE,
        description="Image of placeholders",
    )
    placeholder_run_as_user: Id = Field(
        default=0, alias=PLACEHOLDER_USER, description="User id of placeholders; 0 for that of the image"
    )
    placeholder_run_as_group: Id = Field(
        default=0, alias=PLACEHOLDER_GROUP, description="Group id of placeholders; 0 for that of the image"
    )
    placeholder_fs_group: Id = Field(
        default=0, alias=PLACEHOLDER_FS_GROUP, description="`fsGroup` of placeholders; 0 for none"
    )
    rest_hosts: Hosts = Field(
        default=frozenset(),
        alias="paddock.rest.hosts",
        description="Names and addresses, besides those of loopback, that the admin port accepts in the "
        "`Host` header. Empty: loopback only",
    )
    rest_port: Port = Field(
        default=0,
        alias="paddock.rest.port",
        description="Port of the REST interface, over TLS with tokens; 9080 is YuniKorn's. `0`: none",
    )
    rest_access: RestAccess = Field(
        default="token",
        alias="paddock.rest.access",
        description="`token`: callers of the REST port need a token and the right. `open`: every caller may "
        "read everything, over plain HTTP",
    )
    rest_cors_origins: Origins = Field(
        default=frozenset(),
        alias="paddock.rest.corsOrigins",
        description="Origins whose pages may read answers of the REST port, such as "
        "`https://ui.example:8443`",
    )
    rest_api_server_tokens: Switch = Field(
        default=False,
        alias="paddock.rest.apiServerTokens",
        description="`false`: tokens must be made for the audience `paddock`. `true`: tokens for the API "
        "server are accepted too",
    )
    aggregated_port: Port = Field(
        default=0,
        alias="paddock.aggregated.port",
        description="Port of the API `paddock.dev/v1alpha1`, for the API server's requests. `0`: none",
    )
    peer_port: Port = Field(
        default=0,
        alias="paddock.peer.port",
        description="Port at which the leader answers the other instances, over mutual TLS. All instances "
        "have the same one. `0`: none, and a standby answers 503",
    )
    admin_enabled: Switch = Field(
        default=False,
        alias="paddock.admin.enabled",
        description="`true`: administrators may act on queues through the API `paddock.dev/v1alpha1`, and "
        "what they ordered is in force. Needs the right to write the ConfigMap `paddock-actions`",
    )
    admin_acl: Switch = Field(
        default=False,
        alias="paddock.admin.acl",
        description="`true`: `adminacl` of a queue lets users and groups that it names act on the queue, too",
    )
    admin_config: Switch = Field(
        default=False,
        alias="paddock.admin.config",
        description="`true`: Paddock writes queue documents for callers who may update `yunikorn-configs`",
    )
    records_protected: Switch = Field(
        default=False,
        alias="paddock.records.protected",
        description="`true`: `manifests/records` is installed, so a restart believes since when applications "
        "run. `false`: the pods' own times count",
    )
    webhook_port: Port = Field(
        default=0,
        alias="paddock.webhook.port",
        description="Port of the webhook for servers without `MutatingAdmissionPolicy`, over TLS. `0`: none",
    )

    @property
    def ledger(self) -> LedgerSettings:
        """The settings that the ledger needs."""
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
            max_dynamic=self.queues_max_dynamic,
            max_dynamic_total=self.queues_max_dynamic_total,
            names_others=self.messages_other_names,
            records_protected=self.records_protected,
        )

    @property
    def placeholders(self) -> PlaceholderSettings:
        """The settings for placeholders."""
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
        *("rest_port", "rest_access", "aggregated_port", "peer_port", "webhook_port", "admin_enabled"),
        *("placeholder_image", "placeholder_run_as_user", "placeholder_run_as_group", "placeholder_fs_group"),
    }
)
"""Fields whose value only changes with a restart (SRC-6)."""

KEYS: Mapping[str, str] = {str(field.alias): name for name, field in Settings.model_fields.items()}
"""Keys of the ConfigMap that are settings, with their fields."""

_ALIASES = {name: key for key, name in KEYS.items()}


def settings_from(config_map: Mapping[str, str], overrides: Mapping[str, Any]) -> Settings:
    """Combine defaults, the keys of a ConfigMap, and the values of flags and environment variables.

    ``overrides``: values of flags and variables, by field. Unknown keys are ignored.
    Raises `SettingsError` if a single value is invalid, including those of YuniKorn without effect (SRC-5).
    """
    wrong = bad_values(config_map)
    values: dict[str, Any] = {KEYS[key]: value for key, value in config_map.items() if key in KEYS}
    try:
        settings = Settings(**{**values, **overrides})
    except ValidationError as error:
        wrong |= dict(_key_and_message(each) for each in error.errors(include_input=False))
        raise SettingsError(wrong) from None
    if wrong:
        raise SettingsError(wrong)
    return settings


def reloaded(active: Settings, fresh: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Settings after a reload, and the keys whose change needs a restart (SRC-6)."""
    held = {name: getattr(active, name) for name in NOT_RELOADABLE}
    changed = sorted(_ALIASES[name] for name, value in held.items() if getattr(fresh, name) != value)
    return fresh.model_copy(update=held), tuple(changed)


def _key_and_message(error: Any) -> tuple[str, str]:
    place = ".".join(str(step) for step in error["loc"])
    return _ALIASES.get(place, place), str(error["msg"]).removeprefix("Value error, ")
