"""Members of every answer as the specification lists them: name, kind, ``always`` where never left out.

Written from the specification, not from the Structs.
"""

MEMBERS = {
    "Fault": "status_code integer always, message text always, description text always",
    "Cluster": """
        startTime nanoseconds, rmBuildInformation list of texts, partition text always,
        clusterName text always
    """,
    "Partition": """
        clusterId text always, name text always, capacity Capacity always,
        nodeSortingPolicy NodeSorting always, preemptionEnabled switch always,
        quotaPreemptionEnabled switch always, totalNodes integer always, totalContainers integer always,
        applications counts always, state text, lastStateTransitionTime nanoseconds
    """,
    "Capacity": "capacity amounts, usedCapacity amounts, utilization percentages",
    "NodeSorting": "type text, resourceWeights weights",
    "Rule": "name text always, parameters texts, filter RuleFilter, parentRule Rule",
    "RuleFilter": """
        type text always, userList list of text, groupList list of text, userExp text, groupExp text
    """,
    "Queue": """
        queuename text always, status text, paddockClosed QueueClosure, partition text always,
        pendingResource amounts,
        maxResource amounts, guaranteedResource amounts, allocatedResource amounts,
        preemptingResource amounts, headroom amounts, isLeaf switch always, isManaged switch always,
        properties texts, parent text, template QueueTemplate, children list of Queue,
        childNames list of text, absUsedCapacity percentages, maxRunningApps integer, runningApps integer,
        currentPriority integer always, allocatingAcceptedApps list of text, sortingPolicy text,
        prioritySorting switch always, preemptionEnabled switch always, isPreemptionFence switch always,
        preemptionDelay duration always, quotaPreemptionDelay duration always,
        isPriorityFence switch always, priorityOffset integer, isQuotaPreemptionRunning switch,
        quotaPreemptionStartTime nanoseconds, unschedAskBackoff integer, askBackoffDelay duration
    """,
    "QueueClosure": "queue text always, by text always, since moment always, reason text, until moment",
    "QueueTemplate": """
        maxApplications integer, maxResource amounts, guaranteedResource amounts, properties texts
    """,
    "App": """
        applicationID text always, namespace text, usedResource amounts, maxUsedResource amounts,
        pendingResource amounts, partition text always, queueName text always,
        submissionTime nanoseconds, finishedTime nanoseconds, startTime milliseconds,
        requests list of Request, allocations list of Allocation, applicationState text, user text,
        groups list of text, rejectedMessage text, stateLog list of StateEntry,
        placeholderData list of Placeholders, hasReserved switch, reservations list of text,
        maxRequestPriority integer, resourceHistory ResourceHistory always, backoffDeadline moment
    """,
    "Request": """
        allocationKey text always, allocationTags texts, requestTime nanoseconds, resource amounts,
        priority priority, requiredNodeId text, applicationId text, placeholder switch,
        taskGroupName text, allocationLog list of LogEntry, triggeredPreemption switch,
        originator switch, schedulingAttempted switch, triggeredScaleUp switch
    """,
    "LogEntry": "message text always, lastOccurrence nanoseconds, count integer",
    "Allocation": """
        allocationKey text always, allocationTags texts, requestTime nanoseconds,
        allocationTime nanoseconds, allocationDelay span, resource amounts, priority priority,
        nodeId text, applicationId text, placeholder switch, placeholderUsed switch,
        taskGroupName text, originator switch, preempted switch
    """,
    "ForeignAllocation": """
        allocationKey text always, allocationTags texts, allocationTime nanoseconds, resource amounts,
        priority priority, nodeId text, preemptable switch
    """,
    "StateEntry": "time nanoseconds, applicationState text",
    "Placeholders": """
        taskGroupName text, count integer, minResource amounts, replaced integer, timedout integer
    """,
    "ResourceHistory": "resourceUsage sums, preemptedResource sums, placeholderResource sums",
    "Pending": "total integer always, reasons list of PendingReason, pods list of PendingPod",
    "PendingReason": "reason text always, pods integer always, oldest nanoseconds always",
    "PendingPod": """
        applicationID text always, namespace text always, queueName text always, user text always,
        request Request always
    """,
    "Node": """
        nodeID text always, hostName text, rackName text, attributes texts always, capacity amounts,
        allocated amounts, occupied amounts, available amounts, utilized percentages,
        allocations list of Allocation, foreignAllocations list of ForeignAllocation,
        schedulable switch always, isReserved switch always, reservations list of text
    """,
    "NodeUtilizations": """
        clusterId text, partition text always, utilizations list of Utilization always
    """,
    "Utilization": "type text, utilization list of Bucket",
    "Bucket": "bucketName text, numOfNodes integer, nodeNames list of text",
    "UserUsage": "userName text always, groups texts, queues QueueUsage",
    "GroupUsage": "groupName text always, applications list of text, queues QueueUsage",
    "QueueUsage": """
        queuePath text always, resourceUsage amounts, runningApplications list of text,
        maxResources amounts, maxApplications integer, children list of QueueUsage
    """,
    "Health": "Healthy switch always, HealthChecks list of HealthCheck",
    "HealthCheck": "Name text, Succeeded switch always, Description text, DiagnosisMessage text",
    "ApplicationSample": "timestamp nanoseconds, totalApplications count",
    "ContainerSample": "timestamp nanoseconds, totalContainers count",
    "QueuePast": """
        queue text always, start nanoseconds always, step span always, count integer always,
        thinned switch, memory HistoryMemory always, resources map of ResourcePast always
    """,
    "ResourcePast": """
        used list of integer always, pending list of integer always, guaranteed list of integer always,
        max list of integer always
    """,
    "HistoryMemory": """
        limit integer always, used integer always, unrecorded integer always, dropped integer always
    """,
    "EventBatch": """
        InstanceUUID text always, LowestID integer always, HighestID integer always,
        EventRecords list of EventRecord always
    """,
    "StreamHead": "InstanceUUID text always",
    "PlacementRules": "partition text always, rules list of Rule",
    "EventStream": "Name text, CreatedAt moment",
    "EventRecord": """
        type integer, objectID text, message text, timestampNano nanoseconds, eventChangeType integer,
        eventChangeDetail integer, referenceID text, resource EventResource always
    """,
    "EventResource": "resources map of EventAmount",
    "EventAmount": "value integer",
    "Config": """
        Partitions list of ConfigPartition, Checksum text, AppliedTime nanoseconds, Extra texts,
        DeadlockDetectionEnabled switch always, DeadlockTimeoutSeconds integer always
    """,
    "ConfigPartition": """
        Name text always, Queues list of ConfigQueue always, PlacementRules list of ConfigRule,
        Limits list of ConfigLimit, Preemption ConfigPreemption always,
        NodeSortPolicy ConfigNodeSort always, UserGroupResolver ConfigResolver always
    """,
    "ConfigQueue": """
        Name text always, Parent switch, Resources ConfigResources always, MaxApplications integer,
        Properties texts, AdminACL text, SubmitACL text, ChildTemplate ConfigTemplate always,
        Queues list of ConfigQueue, Limits list of ConfigLimit
    """,
    "ConfigTemplate": "MaxApplications integer, Properties texts, Resources ConfigResources always",
    "ConfigResources": "Guaranteed texts, Max texts",
    "ConfigLimit": """
        Limit text, Users list of text, Groups list of text, MaxResources texts, MaxApplications integer
    """,
    "ConfigRule": """
        Name text always, Create switch, Filter ConfigFilter always, Parent ConfigRule, Value text
    """,
    "ConfigFilter": "Type text always, Users list of text, Groups list of text",
    "ConfigPreemption": "Enabled choice, QuotaPreemptionEnabled choice",
    "ConfigNodeSort": "Type text, ResourceWeights weights",
    "ConfigResolver": "type text",
    "ConfigComparison": """
        allowed switch always, problems list of ConfigFinding, warnings list of ConfigFinding,
        checksum text always, inForce text, configMap ConfigTarget, needsRestart switch,
        partition list of ConfigField, queues list of ConfigQueueChange, above list of ConfigExcess,
        preemptible list of ConfigPreemptible
    """,
    "ConfigFinding": "path text, rule text always, message text always, line integer",
    "ConfigTarget": "namespace text always, name text always, key text always",
    "ConfigField": "name text always, before text, after text",
    "ConfigQueueChange": """
        queue text always, change text always, runningApps integer, fields list of ConfigField
    """,
    "ConfigExcess": """
        queue text always, user text, group text, over amounts, appsOver integer, exceededNow switch,
        applications list of text always, count integer always
    """,
    "ConfigPreemptible": """
        queue text always, why text always, amounts amounts always, delay integer,
        pods list of text always, count integer always
    """,
}
"""By the name of the Struct. A kind that begins with a capital is another Struct."""


def specified(name: str) -> dict[str, tuple[str, bool]]:
    """Kind of each member, and whether it is always there."""
    found = {}
    for entry in MEMBERS[name].split(","):
        member, _, kind = " ".join(entry.split()).partition(" ")
        found[member] = (kind.removesuffix(" always"), kind.endswith(" always"))
    return found
