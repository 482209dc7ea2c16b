"""Events on both sides of a preemption: the pod that gets capacity, and the pods that give it."""

from core.ids import PodUid, QueuePath
from core.ledger.pods.record import PodRecord
from core.ledger.pods.reports import post
from core.ledger.state.state import State
from core.sentences import amounts_phrase, other_pods


def report_preemptor(state: State, record: PodRecord) -> None:
    """Post an Event on a pod whose plan stands: the pods that are evicted for it."""
    uids = state.preemption.victims.get(record.uid, ())
    victims = [_named(state, state.pods.records[uid]) for uid in uids]
    if victims:
        are = "is" if len(victims) == 1 else "are"
        others = other_pods(victims, named=state.config.settings.names_others)
        post(state, record, "Preempting", f"{others} {are} evicted for it", warning=False)


def report_victim(state: State, record: PodRecord) -> None:
    """Post an Event on a victim: what it gives to which pod or queue, and why (PRE-20)."""
    post(state, record, "Preempted", _victim_text(state, record))


def _victim_text(state: State, record: PodRecord) -> str:
    preemptor, why = record.preemption.preempted_for or "", record.preemption.preempted_why
    victim, ask = record.facts.name, state.pods.records.get(PodUid(preemptor))
    if ask is not None:
        named, application = state.config.settings.names_others, state.application_of(ask)
        size = dict(record.facts.size.items())
        given = amounts_phrase(
            {name: amount for name, amount in size.items() if ask.facts.size.get(name) > 0}
        )
        of = f" of application {application.id.name}" if named and application is not None else ""
        return f"{victim} gave {given} to {other_pods([_named(state, ask)], named=named)}{of}: {why}"
    if state.config.tree.get(QueuePath(preemptor)) is not None:
        return f"{victim} was evicted so that {preemptor} comes below its max: {why}"
    return f"{victim} was evicted for a pod that does not exist any more: {why}"


def _named(state: State, record: PodRecord) -> tuple[str, str, str]:
    application = state.application_of(record)
    queue = application.queue if application is not None else None
    return record.facts.namespace, record.facts.name, queue or ""
