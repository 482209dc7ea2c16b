"""The played kube-scheduler: its queue, node cache, plugins, preemption and calls of the extender.

Each module names the file of kube-scheduler that it follows. The end-to-end test of agreement plays the same
scenarios with the real one. The following parts of kube-scheduler are not modelled.

Filters: only NodeUnschedulable, TaintToleration, NodeAffinity (required), NodePorts and NodeResourcesFit run.
Spread constraints, affinity between pods, volumes and their limits, and resource claims reject no node.

Scores: only LeastAllocated and BalancedAllocation over cpu and memory count, besides the extender's scores.
Preferred node affinity, ``PreferNoSchedule`` taints, images, spread and pod affinity add nothing.

Chance: nodes are searched by name, not by zone in turn. Equal scores are decided by name, not at random.
Preemption tries every node, where kube-scheduler samples some from a random start.

Time: a cycle and its binding take no virtual time and never overlap. ``delays`` of a scenario is the only
latency. An event cannot arrive during an attempt. Victims are deleted within the attempt, not in the
background. Preemption reads disruption budgets as they are now, not from a status that is late. A call of the
extender has no timeout.

Queue: three kinds of events wake pods, in place of one queueing hint per plugin. Pods that wait too long in
the pool are not retried after five minutes. A backoff after a refusal ends as soon as no other pod is active.

Binding: no Reserve, Permit or PreBind plugin runs, so no pod waits for permission or for a volume.

Groups: the Workload API, gang scheduling and pod group cycles are absent (gates ``GenericWorkload`` and
``GangScheduling``).

Configuration: one extender with ``nodeCacheCapable`` and the weight that Paddock ships, not ignorable. A
profile is a scheduler name and nothing else. Plugins cannot be switched, weighted or given arguments. Only
``percentageOfNodesToScore`` and ``podMaxBackoffSeconds`` can be set.

Output: kube-scheduler's Events, metrics and leader election are absent. The PodScheduled condition, the
nominated node and the DisruptionTarget condition of victims are written.
"""
