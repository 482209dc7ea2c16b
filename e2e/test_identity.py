"""Nobody gives himself another's name: the shipped policy on the real API server (ID-7)."""

import json

from e2e.cluster import RUN_LABEL, ApiFailure, Cluster, Object, path_of
from e2e.stand import eventually, manifest

USER_INFO = "yunikorn.apache.org/user.info"
AUTHOR = "tester"
"""A user who may do anything with pods and workloads of one namespace, and no more."""


async def _allow(cluster: Cluster, verbs: list[str], name: str) -> None:
    """A Role in the test's namespace, bound to the author."""
    rules = [
        {"apiGroups": ["", "apps", "batch"], "resources": ["pods", "deployments", "cronjobs"], "verbs": verbs}
    ]
    group = "rbac.authorization.k8s.io"
    meta = {"name": name, "namespace": cluster.namespace}
    await cluster.create(
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": dict(meta), "rules": rules}
    )
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": dict(meta),
        "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
        "subjects": [{"kind": "User", "name": AUTHOR, "apiGroup": group}],
    }
    await cluster.create(binding)


def _pod(cluster: Cluster, name: str) -> Object:
    """One that the end of the test takes away, although another user makes it."""
    return cluster.pod(name, labels={RUN_LABEL: cluster.run})


def _claiming(pod: Object, user: str) -> Object:
    pod["metadata"]["annotations"] = {USER_INFO: json.dumps({"user": user})}
    return pod


def _deployment(cluster: Cluster, template: Object) -> Object:
    labels = {"app": "x"}
    template = {"metadata": {**template["metadata"], "labels": labels}, "spec": template["spec"]}
    template["metadata"].pop("namespace")
    template["spec"] = {**template["spec"], "restartPolicy": "Always"}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "x", "namespace": cluster.namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


async def test_a_foreign_name_is_refused(cluster: Cluster) -> None:
    await _allow(cluster, ["create", "get", "update", "patch"], "author")
    for thing in manifest("identity/protect-user-info.yaml"):
        await cluster.apply(thing)
    pods = path_of("Pod", cluster.namespace)

    async def refused(path: str, body: Object, method: str = "POST") -> bool:
        try:
            await cluster.request(method, path, body, user=AUTHOR)
        except ApiFailure as failure:
            if failure.status != 403:
                raise
            return "user.info may be set or changed only" in str(failure)
        return False

    tries = iter(range(1000))

    async def in_force() -> bool:
        return await refused(pods, _claiming(_pod(cluster, f"forged-{next(tries)}"), "boss"))

    await eventually(in_force, "the policy is in force")
    await cluster.request("POST", pods, _pod(cluster, "plain"), user=AUTHOR)
    plain = await cluster.request("GET", f"{pods}/plain")
    plain["metadata"]["annotations"] = {USER_INFO: json.dumps({"user": "boss"})}
    assert await refused(f"{pods}/plain", plain, "PUT")
    template = _claiming(cluster.pod("x"), "boss")
    assert await refused(path_of("Deployment", cluster.namespace), _deployment(cluster, template))
    await cluster.create(_claiming(cluster.pod("by-an-administrator"), "boss"))
    await _allow(cluster, ["set-user-info"], "trusted")

    async def trusted() -> bool:
        name = f"trusted-{next(tries)}"
        return not await refused(pods, _claiming(_pod(cluster, name), "boss"))

    await eventually(trusted, "the author may set it")


def test_the_policy_is_shipped() -> None:
    (kustomization,) = manifest("identity/kustomization.yaml")
    assert "protect-user-info.yaml" in kustomization["resources"]
