"""Every kind of interface, with its reader. A kind's name is that of its file below ``golden``."""

from collections.abc import Callable, Mapping

from tests.interfaces.commands import commands, exit_codes, make_targets
from tests.interfaces.names import keys_read, names
from tests.interfaces.reasons import codes, conditions, events, fault_texts, refusal_shapes, refusal_texts
from tests.interfaces.scenario_format import scenario_format
from tests.interfaces.served import metrics, ports, routes
from tests.interfaces.settings import environment, service_keys, settings

KINDS: Mapping[str, Callable[[], list[str]]] = {
    "codes": codes,
    "commands": commands,
    "conditions": conditions,
    "environment": environment,
    "events": events,
    "exit-codes": exit_codes,
    "fault-texts": fault_texts,
    "keys-read": keys_read,
    "make": make_targets,
    "metrics": metrics,
    "names": names,
    "ports": ports,
    "refusal-shapes": refusal_shapes,
    "refusal-texts": refusal_texts,
    "routes": routes,
    "scenario-format": scenario_format,
    "service-keys": service_keys,
    "settings": settings,
}
