"""The page of metrics, read from the registry of a server that has just started."""

from collections.abc import Iterator

from extender.telemetry.metrics import TEXT_FAMILIES
from tests.documents.reference.markdown import code, codes, page, sentence, table
from tests.interfaces.served import families, served

_INTRO = """\
# Metrics

Series on `/metrics` of the admin port, in the text format of Prometheus. Counters begin at 0 with each
start of the process. `/ws/v1/metrics` has those of YuniKorn alone (METRIC-1 to METRIC-18).
Queues, pods and nodes are told of by the leader only. A standby has the series of its process.
Histograms also have `_bucket`, `_sum` and `_count`, summaries the last two. Most counters have `_created`,
the time of their start.

Amounts are millicores for `vcore`, bytes for memory, and counts for everything else.
At most 2,000 queues and 64 resources have series of their own. `paddock_queues` counts all queues, and
`paddock_queues_unshown` and `paddock_resources_unshown` count what has none.
In a name `<queue>` stands for the path of a queue and `<type>` for a resource. Each other sign is `_`."""


def metrics_page() -> str:
    return page(_INTRO, table(("metric", "type", "labels", "meaning"), sorted(_rows())))


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for registry in served().registries:
        for family, labels in families(registry):
            name = f"{family.name}_total" if family.type == "counter" else family.name
            yield code(name), family.type, codes(labels), sentence(family.documentation)
    for each in TEXT_FAMILIES:
        yield code(each.name), each.kind, codes(each.labels), sentence(each.meaning)
