"""Table of the fields of a pod's spec that a task group may set, with their types (core/v1, meta/v1)."""

from extender.wire.annotations.shapes import Reader, fields, list_of, map_of, text, whole

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

_TEXTS = list_of(text)
_EXPRESSIONS = list_of(fields({"key": text, "operator": text, "values": _TEXTS}))

_LABEL_SELECTOR = fields({"matchLabels": map_of(text), "matchExpressions": _EXPRESSIONS})

_NODE_TERM = fields({"matchExpressions": _EXPRESSIONS, "matchFields": _EXPRESSIONS})

_POD_TERM = fields(
    {
        "labelSelector": _LABEL_SELECTOR,
        "namespaces": _TEXTS,
        "topologyKey": text,
        "namespaceSelector": _LABEL_SELECTOR,
        "matchLabelKeys": _TEXTS,
        "mismatchLabelKeys": _TEXTS,
    }
)

_POD_AFFINITY = fields(
    {
        _REQUIRED: list_of(_POD_TERM),
        _PREFERRED: list_of(fields({"weight": whole(32), "podAffinityTerm": _POD_TERM})),
    }
)

_NODE_AFFINITY = fields(
    {
        _REQUIRED: fields({"nodeSelectorTerms": list_of(_NODE_TERM)}),
        _PREFERRED: list_of(fields({"weight": whole(32), "preference": _NODE_TERM})),
    }
)

AFFINITY: Reader = fields(
    {"nodeAffinity": _NODE_AFFINITY, "podAffinity": _POD_AFFINITY, "podAntiAffinity": _POD_AFFINITY}
)

TOLERATIONS: Reader = list_of(
    fields({"key": text, "operator": text, "value": text, "effect": text, "tolerationSeconds": whole(64)})
)

TOPOLOGY_SPREAD: Reader = list_of(
    fields(
        {
            "maxSkew": whole(32),
            "topologyKey": text,
            "whenUnsatisfiable": text,
            "labelSelector": _LABEL_SELECTOR,
            "minDomains": whole(32),
            "nodeAffinityPolicy": text,
            "nodeTaintsPolicy": text,
            "matchLabelKeys": _TEXTS,
        }
    )
)
