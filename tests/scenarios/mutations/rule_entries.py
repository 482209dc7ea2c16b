"""The one place where tests name functions of the product that a mutation replaces.

Each rule has an entry, which names its implementation. A mutation names the entry by its key, so a renamed or
moved function changes only one row. `tests.scenarios.mutations.test_rule_entries` checks every row.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """Implementation of rules."""

    #: ``module:function``, ``module:Class.method`` or ``module:Class.property``.
    path: str
    #: Ids of the rules that scenarios show by replacing it, separated by spaces.
    rules: str


RULE_ENTRIES: dict[str, Entry] = {
    # placement and applications
    "application_id": Entry("core.workload.application:application_id", "F-15 POD-5"),
    "joins_application": Entry("core.ledger.applications.membership:join", "GANG-1 SORT-6"),
    "queue_of_application": Entry(
        "core.queues.placement.rules:decide_queue", "PL-4 PL-6 PL-9 PL-10 PL-12 Q-9"
    ),
    "may_submit": Entry("core.queues.users.access:may_submit", "ACL-5"),
    "placement_filter": Entry("core.queues.placement.filters:passes", "PL-5"),
    "recovery_queue": Entry("core.ledger.applications.forced:_recover", "F-1"),
    "pod_is_managed": Entry("core.workload.managed:is_managed", "CONTRACT-4 DESIGN-7 NS-7"),
    "rejected_pods_fail": Entry("core.ledger.applications.rejection:mark_failed", "APP-8 APP-9"),
    "application_runs": Entry("core.ledger.applications.lifecycle:run", "APP-3 APP-4"),
    # documents and queues
    "settings": Entry("extender.configuration.settings:settings_from", "DIV-23 F-15 PRE-17 PRE-18 SRC-4"),
    "problems_of_document": Entry("extender.queueconfig.problems:reported", "CFG-24"),
    "partition_of_document": Entry("extender.queueconfig.translation:partition_spec_from", "PRE-1 Q-2 QCP-1"),
    "document_is_applied": Entry("core.queues.tree:QueueTree.apply", "ACT-13 APPLY-5"),
    "queue_is_configured": Entry("core.queues.queue:Queue.configure", "Q-11"),
    "dynamic_queue_inherits": Entry("core.queues.queue:Queue.inherit", "PRI-10"),
    "child_template": Entry("core.queues.queue:Queue.template", "PRI-10 TPL-2 TPL-5"),
    "inherited_properties": Entry("core.queues.properties:inherited", "DIV-5 DIV-16 PRE-2 PRE-3 PRI-10 Q-5"),
    "queue_properties": Entry("core.queues.properties:properties_from", "LAW-7 PRE-2 PRI-9 SORT-4 SORT-8"),
    "namespace_quota": Entry("core.queues.tree:QueueTree.limit", "GANG-6 NS-5"),
    "unused_queues_go": Entry("extender.engine.engine:Engine.clean", "Q-10"),
    # usage, headroom and limits
    "freed_by_charge": Entry("core.ledger.settle:note_freed", "CYC-1"),
    "freed_on_node": Entry("core.ledger.admission.requests:request_cycle_for_node", "CYC-1"),
    "charge_of_pod": Entry("core.ledger.charge:charge_of", "DESIGN-2 DESIGN-3 GANG-12 QUO-2 RES-8"),
    "pod_is_deleted": Entry("core.ledger.pods.registry:delete_pod", "POD-2 PRE-22"),
    "headroom": Entry("core.queues.headroom:headroom", "QUO-12"),
    "shortfall": Entry("core.queues.headroom:shortfall", "CYC-5 FORMAT-0 QUO-1 QUO-3 QUO-8 QUO-9 RNP-1"),
    "passed_queues": Entry("core.queues.quota_check:passed_queues", "CYC-5 FORMAT-0 QUO-3 QUO-8 QUO-9"),
    "room_for_ask": Entry("core.queues.quota_check:QuotaCheck.personal_refusal", "APP-15 QUO-13"),
    "queue_is_closed": Entry("core.queues.closing:closed_in", "ACT-10 ACT-11"),
    "queue_opens": Entry("core.ledger.applications.queues:next_opening", "ACT-12"),
    "application_is_barred": Entry("core.ledger.applications.bars:refusal_of_bar", "ACT-22"),
    "applications_are_ended": Entry("core.ledger.applications.ending:end_applications", "ACT-20 ACT-21"),
    "endings_go_on": Entry("core.ledger.applications.ending:resume_endings", "ACT-23"),
    "ended_pod_is_evicted": Entry("core.ledger.applications.ending:evict_pod", "ACT-23"),
    "applications_are_moved": Entry("core.ledger.applications.moves.moving:move_applications", "ACT-30"),
    "move_is_refused": Entry("core.ledger.applications.moves.checking:move_refusal", "ACT-31"),
    "move_waits": Entry("core.ledger.applications.moves.checking:under_way", "ACT-32"),
    "moved_application_is_placed": Entry("core.ledger.applications.placement:place_of_move", "ACT-33"),
    "move_ends": Entry("core.ledger.applications.moves.orders:end_order", "ACT-34"),
    "execution_limit": Entry("core.ledger.applications.timeouts.limits:limit_of", "ACT-40 ACT-42"),
    "execution_bar": Entry("core.ledger.applications.timeouts.limits:bar_of", "ACT-42"),
    "id_is_generated": Entry("core.ledger.applications.timeouts.limits:is_without_end", "ACT-46"),
    "execution_is_carried": Entry("core.ledger.applications.timeouts.records:carry", "ACT-42"),
    "execution_is_recovered": Entry("core.ledger.applications.timeouts.records:recover_execution", "ACT-41"),
    "own_time_of_a_pod": Entry("core.ledger.applications.timeouts.records:placed_at", "ACT-41 ACT-42"),
    "execution_is_asked_for": Entry("core.workload.timeouts.execution:asked_for", "ACT-40"),
    "execution_end_is_announced": Entry("core.workload.timeouts.execution:end_announced", "ACT-44"),
    "clock_is_ahead": Entry("core.workload.timeouts.execution:behind", "ACT-45"),
    "pod_is_exempt": Entry("core.workload.ending:is_exempt", "ACT-21"),
    "limit_of_user": Entry("core.queues.users.limits:Limits.of_user", "CYC-5 GANG-8 UGM-1"),
    "limit_of_group": Entry("core.queues.users.limits:Limits.of_group", "UGM-6"),
    "limits_of_claimant": Entry("core.queues.users.limits:Claimant.tracked", "UGM-1"),
    # pods and nodes as they are read
    "pod_facts": Entry("extender.wire.translate:pod_from", "POD-3 PRE-4"),
    "pod_size": Entry("extender.wire.objects.sizing:pod_size", "RES-4 RES-6"),
    "pod_is_gated": Entry("core.workload.pod:PodFacts.gated", "POD-20"),
    "nodes_are_learnt": Entry("core.ledger.cluster.objects:learn_object", "QUO-1"),
    # priorities and order
    "exported_priority": Entry("core.queues.priority:exported", "PRI-6 PRI-7 PRI-8 PRI-12 PRI-13"),
    "pending_ask_goes": Entry("core.queues.priority:ask_goes", "PRI-2"),
    "order_of_queues": Entry("core.queues.ordering:order_key", "PRI-11 SORT-1 SORT-2"),
    "fair_share": Entry("core.resource.shares:fair_share", "CYC-1 PRI-12 SORT-1 SORT-3"),
    "fair_max": Entry("core.queues.headroom:fair_max", "SORT-3"),
    "strictly_more": Entry("core.resource.comparisons:strictly_more", "SORT-1"),
    "order_of_applications": Entry("core.workload.ordering:order_key", "PRI-11 SORT-5 SORT-7"),
    "usage_shares": Entry("core.workload.ordering:usage_shares", "SORT-7"),
    "state_aware_applications": Entry("core.workload.ordering:eligible_applications", "DIV-4"),
    "order_of_asks": Entry("core.ledger.pods.record:PodRecord.rank", "REQ-1 REQ-2"),
    "queue_takes_part": Entry("core.ledger.admission.order.branch:Branch.set_index", "SORT-0"),
    # scheduling cycle and turns
    "cycle": Entry("core.ledger.admission.cycle:Cycle.slice", "DESIGN-3 DESIGN-6"),
    "asks_left_out": Entry("core.ledger.admission.cycle:Cycle._leave_out", "CYC-7"),
    "pod_is_unguarded": Entry("core.ledger.pods.record:PodRecord.is_unguarded", "F-2 F-7"),
    "crowded_nodes": Entry("core.ledger.view:LedgerView.crowds", "DESIGN-3"),
    "turns_leave_no_node": Entry("core.ledger.view:LedgerView.turns_leave_no_node", "DESIGN-3"),
    "found_no_node": Entry("core.ledger.view:LedgerView.found_no_node", "DESIGN-3"),
    "back_off_begins": Entry("core.ledger.admission.backoff:back_off", "CYC-4"),
    "in_back_off": Entry("core.ledger.admission.backoff:backs_off", "CYC-4"),
    "may_back_off": Entry("core.decisions.back_off:may_back_off", "CYC-4"),
    "unplaced_asks": Entry(
        "core.ledger.admission.order.application_queue:ApplicationQueue.are_unplaced", "CYC-4"
    ),
    "more_unplaced_asks": Entry(
        "core.ledger.admission.order.application_queue:ApplicationQueue.more_are_unplaced", "CYC-4"
    ),
    # nodes
    "scores_nodes": Entry("core.decisions.scoring:scores_nodes", "NODE-1"),
    "score_of_node": Entry("core.workload.nodes.ranking:score_of", "NODE-1"),
    "usage_of_node": Entry("core.workload.nodes.ranking:usage_of", "NODE-2"),
    "best_node_with_room": Entry("core.workload.nodes.free_capacity:FreeCapacity.tightest", "GANG-11 PRE-22"),
    "why_not_on_node": Entry("core.workload.nodes.affinity:why_not", "FORMAT-6"),
    "may_reserve_node": Entry("core.ledger.node_reservation.search:may_search", "CYC-2 CYC-6"),
    "reserved_nodes": Entry("core.decisions.admission:held_for_others", "PRE-22"),
    "end_of_node_reservation": Entry("core.ledger.node_reservation.reservation:reserved_until", "PRE-22"),
    "node_is_nominated": Entry("core.ledger.node_reservation.reservation:nominate", "PRE-22"),
    # gangs
    "gang_of_pod": Entry("core.ledger.gangs.definition:gang_of", "POD-8 POD-12"),
    "gang_annotations": Entry("extender.wire.annotations.gang:gang_from", "GANG-16 GANG-17"),
    "awaits_pods_of_gang": Entry("core.ledger.gangs.definition:awaits_pods", "GANG-6"),
    "size_of_gang": Entry("core.workload.gangs.refusals:refusal_of_size", "COS-24 GANG-6"),
    "refusal_of_gang": Entry("core.workload.gangs.refusals:refusal_of_gang", "GANG-7"),
    "ask_awaits_gang": Entry("core.ledger.gangs.index:awaits_gang", "APP-11 GANG-9 GANG-10 GANG-23 GANG-24"),
    "refusal_of_gang_pod": Entry(
        "core.decisions.gangs:refusal_of_gang_pod", "APP-11 GANG-9 GANG-10 GANG-23 GANG-24"
    ),
    "gang_begins": Entry("core.workload.gangs.progress:gang_progress_of", "GANG-15 GANG-25"),
    "gang_goes_on": Entry("core.ledger.gangs.lifecycle:_take_up", "GANG-5"),
    "gang_advances": Entry("core.ledger.gangs.lifecycle:advance", "GANG-14 GANG-16"),
    "placeholder_names": Entry("core.workload.gangs.progress:names_of", "GANG-20"),
    "placeholder_created": Entry("core.ledger.gangs.creation:note_created", "GANG-4"),
    "placeholder_pod": Entry("extender.wire.placeholder:placeholder_pod", "GANG-3 GANG-22"),
    "placeholder_is_gone": Entry("core.ledger.gangs.replacement:note_placeholder_deleted", "GANG-18"),
    "placeholder_covers_member": Entry("core.resource.amounts:Resource.covers", "GANG-11"),
    "placeholder_taken_over": Entry("core.ledger.gangs.matching:link_next", "GANG-12 GANG-25"),
    "placeholder_left_over": Entry("core.ledger.gangs.release:left_over", "GANG-16 GANG-18 GANG-19"),
    "placeholders_released": Entry("core.ledger.gangs.release:release_all", "APP-6 GANG-21"),
    "task_group_closes": Entry("core.ledger.gangs.matching:close", "GANG-13"),
    "originator_of_gang": Entry("core.ledger.gangs.release:originator_of", "GANG-25"),
    # pod groups
    "pod_group_labels": Entry("extender.wire.annotations.gang:pod_group_from", "COS-1"),
    "pod_group_of_pod": Entry("core.ledger.podgroups.membership:key_of", "COS-3 COS-4"),
    "pod_group_phase": Entry("core.ledger.podgroups.membership:phase_of", "COS-1"),
    "pod_group_minimum": Entry("core.ledger.podgroups.membership:least_of", "COS-4"),
    "pod_group_member_goes": Entry("core.ledger.podgroups.membership:forget_member", "COS-2 COS-14"),
    "pod_group_fails": Entry("core.ledger.podgroups.attempt:fail", "COS-6"),
    "pod_group_is_tended": Entry("core.ledger.podgroups.attempt:_tend", "COS-2"),
    "pod_group_quota": Entry("core.ledger.podgroups.admission:fits_quota", "COS-3"),
    "pod_group_takes_pod": Entry("core.ledger.podgroups.admission:PodGroupAdmission.takes", "COS-1"),
    "pod_groups_under_way": Entry(
        "core.ledger.podgroups.admission:PodGroupAdmission.groups_under_way", "COS-5"
    ),
    "pod_group_wait": Entry("core.workload.pod_group:wait_of", "COS-6"),
    "pod_group_back_off": Entry("core.workload.pod_group:back_off_of", "COS-6"),
    "binding": Entry("core.decisions.binding:decide_binding", "COS-5"),
    # guarantees and laws of preemption
    "remaining_guarantee": Entry("core.queues.guarantees:remaining", "DIV-8 DIV-11 LAW-4 PRE-8"),
    "losable_usage": Entry("core.queues.guarantees:losable", "DIV-8 DIV-9 LAW-2 LAW-3 LAW-4 LAW-5"),
    "keeps_guarantee": Entry(
        "core.decisions.preemption.laws:keeps_guarantee", "DIV-8 DIV-9 F-10 LAW-2 LAW-3 LAW-4 LAW-5 QCP-4"
    ),
    "is_above_guarantee": Entry("core.decisions.preemption.laws:is_above_guarantee", "LAW-3 LAW-4 LAW-5"),
    "is_below_guarantee": Entry(
        "core.decisions.preemption.laws:is_below_guarantee", "DIV-10 DIV-11 LAW-4 PRE-10"
    ),
    "is_no_more_important": Entry("core.decisions.preemption.laws:is_no_more_important", "LAW-6"),
    "is_of_another_queue": Entry("core.decisions.preemption.laws:is_of_another", "LAW-3"),
    "guarantee_against_others": Entry("core.decisions.preemption.judging:undercut", "LAW-2"),
    "usage_in_plan": Entry("core.queues.whatif:WhatIf.used", "DIV-14 PRE-21"),
    "reachable_queues": Entry("core.queues.fence:reach", "DIV-6 LAW-3 LAW-7"),
    "effective_max": Entry("core.queues.headroom:effective_max", "PRE-6"),
    "reach_allows": Entry("core.queues.fence:Reach.allows", "LAW-6 PRE-6"),
    "within": Entry("core.resource.comparisons:within", "PRE-6"),
    # plans of preemption
    "preemption_answer": Entry("core.decisions.admission:decide_preemption", "CONTRACT-3.2"),
    "barred_from_preemption": Entry("core.decisions.preemption.eligibility:why_not_eligible", "PRE-5"),
    "first_attempt": Entry("core.ledger.preemption.attempts:_first_attempt", "DIV-11 LAW-4 PRE-5 PRE-20"),
    "next_ask_to_plan_for": Entry("core.decisions.preemption.due_order:DueOrder.first", "F-14"),
    "opted_out": Entry("core.decisions.preemption.case:is_opted_out", "LAW-1 PRE-4 PRE-15"),
    "disruption_budgets": Entry("core.workload.budget:forbids", "PRE-11 RNP-5"),
    "candidates_on_node": Entry("core.decisions.preemption.search:candidates_on", "LAW-1"),
    "why_node_is_unfit": Entry("core.decisions.preemption.search:why_unfit", "PRE-12"),
    "node_with_room": Entry("core.decisions.preemption.planning:Planning._with_capacity", "DIV-21"),
    "score_of_plan": Entry("core.decisions.preemption.planning:_score", "PRE-15"),
    "order_of_victims": Entry("core.decisions.preemption.receipts:Victim.order", "PRE-11 PRE-18"),
    "wishes_of_victim": Entry("core.decisions.preemption.receipts:Victim.wishes", "PRE-11"),
    "victims_on_node": Entry("core.decisions.preemption.selection:pick_on_node", "DIV-13"),
    "victim_is_tried": Entry("core.decisions.preemption.selection:Trial.take", "DIV-12"),
    "victims_given_back": Entry("core.decisions.preemption.selection:Choice.give_back", "DIV-23"),
    "lacking_after_choice": Entry("core.decisions.preemption.selection:Choice.lacking", "DIV-13"),
    "lacking_on_node": Entry("core.decisions.preemption.selection:lacking", "RNP-4"),
    # required nodes
    "plan_for_required_node": Entry("core.decisions.required_node:plan_required_node", "RNP-1 RNP-5"),
    "breach_on_required_node": Entry("core.decisions.required_node:breach_of", "F-10"),
    "spared_on_required_node": Entry("core.decisions.required_node:_spared", "F-10 RNP-2 RNP-5"),
    "order_on_required_node": Entry("core.decisions.required_node:_order", "RNP-3"),
    "kind_on_required_node": Entry("core.decisions.required_node:kind_of", "DIV-15"),
    "enough_on_required_node": Entry("core.decisions.required_node:_covered", "RNP-4"),
    "coming_on_node": Entry("core.ledger.view:LedgerView.coming", "RNP-5"),
    # execution of preemption
    "preemption_is_offered": Entry("core.ledger.preemption.offers:offer", "F-12 F-13"),
    "victim_is_marked": Entry("core.ledger.preemption.victims:mark", "QCP-9"),
    "plan_falls_short": Entry("core.ledger.preemption.execution:fall_short", "PRE-20"),
    "preemption_in_vain": Entry("core.ledger.preemption.in_vain:note_vanished", "F-25"),
    "plan_comes_together": Entry("core.ledger.recovery:_comes_together", "PRE-22"),
    "plan_is_remembered": Entry("core.ledger.node_reservation.reservation:remember", "PRE-22"),
    "plans_go_on": Entry("core.ledger.recovery:resume", "PRE-20 PRE-22"),
    "leadership_begins": Entry("core.ledger.recovery:take_over", "DESIGN-4"),
    # quota changes
    "quota_change_start": Entry("core.queues.quota_change:start_after", "DIV-17 QCP-2"),
    "quota_change_after_growth": Entry("core.queues.quota_change:start_after_growth", "QCP-2"),
    "quota_change_terms": Entry("core.queues.quota_change:terms_of", "QCP-1"),
    "quota_changes_due": Entry("core.ledger.preemption.quota_reclaim:find_reclaims", "QCP-3"),
    "quota_change_is_over": Entry("core.ledger.preemption.quota_reclaim:reclaimed", "QCP-3"),
    "excess_of_queue": Entry("core.decisions.preemption.quota_reclaim:excess", "QCP-4"),
    "shares_of_excess": Entry("core.decisions.preemption.quota_reclaim:shares", "QCP-5"),
    "reclaim_candidates": Entry("core.decisions.preemption.quota_reclaim:candidates", "DIV-18 QCP-6 QCP-7"),
    "reclaim_choice": Entry("core.decisions.preemption.quota_reclaim:pick", "QCP-8"),
    # the simulator
    "pod_of_entry": Entry("extender.simulator.scenario.objects:pod_object", "FORMAT-6 POD-8"),
    "copies_of_pods": Entry("extender.simulator.simulation:Cluster._recreate", "FORMAT-8"),
    "garbage_collection": Entry(
        "extender.simulator.cluster.garbage_collector:GarbageCollector.collect", "GANG-2 GANG-21"
    ),
    "live_pods": Entry("extender.simulator.cluster.api_server:PlayedApi.live_pods", "DESIGN-4 DESIGN-10"),
    "paddock_starts": Entry("extender.simulator.paddock:Life.start", "DESIGN-4 DESIGN-10"),
    "scheduler_starts": Entry(
        "extender.simulator.scheduler.scheduler:PlayedScheduler.__init__", "CONTRACT-5.3"
    ),
    "scheduler_queues_pod": Entry(
        "extender.simulator.scheduler.scheduling_queue:PodQueue.add", "CONTRACT-5.3"
    ),
    "scheduler_queue_order": Entry("extender.simulator.scheduler.scheduling_queue:Queued.key", "FORMAT-4"),
    "scheduler_puts_back": Entry(
        "extender.simulator.scheduler.scheduling_queue:PodQueue.put_back", "FORMAT-5"
    ),
    "scheduler_samples_nodes": Entry(
        "extender.simulator.scheduler.node_choice:NodeChoice._most_nodes", "CONTRACT-3.3"
    ),
    "scheduler_scores": Entry("extender.simulator.scheduler.plugins:score_on", "FORMAT-6"),
    "scheduler_nominations": Entry("extender.simulator.scheduler.nominator:Nominator.on", "CONTRACT-7"),
    "scheduler_may_preempt": Entry(
        "extender.simulator.scheduler.post_filter:PostFilter._ineligible", "CONTRACT-4.1"
    ),
    "scheduler_sees_budget": Entry("extender.simulator.cluster.budgets:matches", "CONTRACT-4.1"),
}
