"""Rights of users in a test's namespace, and the text with which a forbidden request is refused."""

from collections.abc import Awaitable, Mapping, Sequence

from e2e.cluster.client import ApiFailure, Cluster

_GROUP = "rbac.authorization.k8s.io"


async def allow(
    cluster: Cluster,
    subject: Mapping[str, str],
    verbs: Sequence[str],
    *resources: str,
    groups: Sequence[str],
    namespace: str = "",
) -> None:
    """Create a Role of the subject's name, and its binding.

    ``subject``: kind and name. ``groups``: of the API. ``namespace``: the cluster's own unless another is
    named.
    """
    name = subject["name"]
    rule = {"apiGroups": [*groups], "resources": [*resources], "verbs": [*verbs]}
    role = {"apiGroup": _GROUP, "kind": "Role", "name": name}
    bound = {"roleRef": role, "subjects": [{**subject, "apiGroup": _GROUP}]}
    for kind, content in (("Role", {"rules": [rule]}), ("RoleBinding", bound)):
        meta = {"name": name, "namespace": namespace or cluster.namespace}
        await cluster.create({"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": meta, **content})


async def refusal(call: Awaitable[object]) -> str:
    """The reason why a request is forbidden; empty if it is not."""
    try:
        await call
    except ApiFailure as failure:
        if failure.status != 403:
            raise
        return str(failure)
    return ""
