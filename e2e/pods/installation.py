"""The chart installed by Helm, and its pods started from the objects that the API server then has."""

import asyncio
import base64
import copy
import itertools
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.pods.networks import Connect, Network, Streams
from e2e.pods.pod import Pod
from e2e.pods.services import Egress, endpoints
from e2e.stands.stand import NAMESPACE, certificates
from e2e.tests.install.commands import Shell

API_ADDRESS, POD_ADDRESS, SERVICE_ADDRESS = "10.0.0.1", "10.244.0.2", "10.0.0.9"
WORKLOADS = {"sidecar": "paddock-scheduler", "service": "paddock"}
QUICK = 60.0
"""Seconds for the startup of a pod that is expected to fail."""
_NODE_PORT = 6443
_STATIC_POD: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
    "spec": {
        "hostNetwork": True,
        "containers": [
            {
                "name": "kube-scheduler",
                "image": "kube-scheduler",
                "command": [
                    "kube-scheduler",
                    "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
                    "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf",
                    "--bind-address=127.0.0.1",
                    "--kubeconfig=/etc/kubernetes/scheduler.conf",
                    "--leader-elect=true",
                ],
                **{
                    kind: {
                        "httpGet": {"host": "127.0.0.1", "path": path, "port": 10259, "scheme": "HTTPS"},
                        "periodSeconds": 10,
                        "failureThreshold": 24,
                        "timeoutSeconds": 15,
                    }
                    for kind, path in (
                        ("startupProbe", "/livez"),
                        ("livenessProbe", "/livez"),
                        ("readinessProbe", "/readyz"),
                    )
                },
                "volumeMounts": [
                    {"name": "kubeconfig", "mountPath": "/etc/kubernetes/scheduler.conf", "readOnly": True}
                ],
            }
        ],
        "volumes": [
            {"name": "kubeconfig", "hostPath": {"path": "/etc/kubernetes/scheduler.conf", "type": "File"}}
        ],
    },
}
"""kube-scheduler's static pod as kubeadm writes it, without its labels."""


class Installation:
    """An installation of one mode, as an async context manager. At its end everything is removed.

    ``values``: of the chart, with the mode.
    """

    def __init__(self, cluster: Cluster, egress: Egress, folder: Path, values: Mapping[str, Any]) -> None:
        self.cluster = cluster
        self.shell = Shell(cluster, folder)
        self.pods: list[Pod] = []
        self._egress = egress
        self._folder = folder
        self._values = values
        self._mode = values["mode"]
        self._node_files = folder / "node"
        self._routes: dict[tuple[str, int], Connect] = {}
        self._stack = AsyncExitStack()
        self._numbers = itertools.count()
        self.node = Network("control-plane-node", (SERVICE_ADDRESS,))

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            error.add_note("\n".join(pod.tails for pod in self.pods))
        await self._stack.__aexit__(kind, error, trace)

    async def _start(self) -> None:
        await self._stack.enter_async_context(self.node)
        await self.node.listen("127.0.0.1", _NODE_PORT, self._to_api_server)
        self._egress.route = self._route
        await self._make_certificates()
        await self.shell.install("install", self._values)
        self._stack.push_async_callback(self._uninstall)
        if self._mode == "kubeadm":
            await self._start_static_pod()
            return
        await self._start_deployment(WORKLOADS[self._mode])
        if self._mode == "service":
            await self._start_scheduler_of_the_node()

    async def start_changed(self, change: Callable[[Object], object]) -> Pod:
        """Start a Deployment's pod once more, with another spec, in a network of its own.

        Raises what stops it, such as `ProbeFailed` after `QUICK` seconds.
        """
        thing = copy.deepcopy(self._thing)
        change(thing["spec"])
        meta = thing["metadata"] = {**thing["metadata"], "name": f"changed-{next(self._numbers)}"}
        async with AsyncExitStack() as stack:
            network = await stack.enter_async_context(Network(meta["name"], (API_ADDRESS, POD_ADDRESS)))
            await network.listen(API_ADDRESS, 443, self._to_api_server)
            pod = await stack.enter_async_context(await self._pod(thing, network, POD_ADDRESS))
            await pod.until_ready(patience=QUICK)
            return pod

    async def _uninstall(self) -> None:
        await self.shell.helm("uninstall", "paddock", f"--namespace={NAMESPACE}")

    # -- pods -----------------------------------------------------------------------------------------------

    async def _start_deployment(self, name: str) -> None:
        """Start one pod of a Deployment, which exists at the API server, too."""
        path = path_of("Deployment", NAMESPACE, name)
        template = (await self.cluster.request("GET", path))["spec"]["template"]
        meta = {**template["metadata"], "name": f"{name}-0", "namespace": NAMESPACE}
        thing = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}
        self._thing = thing
        # The API server checks it against the Pod Security level of the namespace.
        await self.cluster.create(copy.deepcopy(thing))
        self._stack.push_async_callback(self.cluster.delete_pod, meta["name"], NAMESPACE)
        network = await self._stack.enter_async_context(Network(meta["name"], (API_ADDRESS, POD_ADDRESS)))
        await network.listen(API_ADDRESS, 443, self._to_api_server)
        pod = await self._started(thing, network, POD_ADDRESS)
        await self._route_services(meta["labels"], pod)
        await pod.until_ready()

    async def _start_static_pod(self) -> None:
        """Do what the runbook of mode kubeadm says, with the files that the chart rendered."""
        rendered = await self._data("paddock-static-pod")
        for name, text in rendered.items():
            (self._folder / name).write_text(text)
        (self._folder / "pod.json").write_text(json.dumps(_STATIC_POD))
        for name, kind in (("kube-scheduler0-json", "json"), ("kube-scheduler1-strategic", "strategic")):
            text = await self.shell.kubectl(
                *("patch", "--local", "-f", "pod.json", f"--type={kind}", f"--patch-file={name}.yaml"),
                *("-o", "json"),
            )
            (self._folder / "pod.json").write_text(text)
        place = self._node_files / "etc" / "kubernetes"
        (place / "paddock").mkdir(parents=True)
        await self._write_scheduler_config(place / "paddock")
        self._write_kubeconfig(place / "scheduler.conf", "scheduler")
        self._write_kubeconfig(place / "paddock" / "kubeconfig", "paddock-certificate")
        shutil.chown(place / "paddock" / "kubeconfig", 65532)
        (place / "paddock" / "kubeconfig").chmod(0o400)
        pod = await self._started(json.loads((self._folder / "pod.json").read_text()), self.node, "127.0.0.1")
        # The webhook's address is that of the API server's own node.
        port = self._values["ports"]["webhook"] if "ports" in self._values else 10294
        self._routes["127.0.0.1", port] = lambda: self.node.connect("127.0.0.1", port)
        await pod.until_ready()

    async def _start_scheduler_of_the_node(self) -> None:
        """Play the scheduler of a control plane, with the rendered configuration and the client's files."""
        place = self._node_files / "etc" / "kubernetes"
        place.mkdir(parents=True, exist_ok=True)
        (place / "paddock").mkdir()
        await self._hand_over_client_files(place / "paddock")
        # The scheduler of the next installation need not wait until the Lease of this one ends.
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
        self._stack.push_async_callback(self._delete, lease)
        await self._write_scheduler_config(place / "paddock")
        self._write_kubeconfig(place / "scheduler.conf", "scheduler")
        thing = copy.deepcopy(_STATIC_POD)
        (container,) = thing["spec"]["containers"]
        container["command"].append("--config=/etc/kubernetes/paddock/scheduler-config.yaml")
        container["volumeMounts"].append({"name": "paddock", "mountPath": "/etc/kubernetes/paddock"})
        volume = {"name": "paddock", "hostPath": {"path": "/etc/kubernetes/paddock", "type": "Directory"}}
        thing["spec"]["volumes"].append(volume)
        await (await self._started(thing, self.node, "127.0.0.1")).until_ready()

    async def _hand_over_client_files(self, folder: Path) -> None:
        """Do as the runbook of mode service says, with certificates of Paddock or with one's own."""
        for key, name in (("ca.crt", "ca.crt"), ("tls.crt", "client.crt"), ("tls.key", "client.key")):
            if self._values["tls"]["source"] == "selfSigned":
                asked = "jsonpath={.data." + key.replace(".", r"\.") + "}"
                text = await self.shell.kubectl(
                    *("get", "secret", "paddock-client-tls", f"--namespace={NAMESPACE}", "-o", asked)
                )
                (folder / name).write_bytes(base64.b64decode(text))
            else:
                shutil.copy(self._folder / "tls" / name, folder / name)

    async def _started(self, thing: Object, network: Network, address: str) -> Pod:
        return await self._stack.enter_async_context(await self._pod(thing, network, address))

    async def _pod(self, thing: Object, network: Network, address: str) -> Pod:
        made = Pod(
            self.cluster,
            thing,
            network,
            address=address,
            folder=self._folder / f"pod-{thing['metadata']['name']}",
            node=self._node_files,
            of_node=await self._variables(thing["spec"]),
        )
        self.pods.append(made)
        return made

    async def _variables(self, spec: Object) -> dict[str, str]:
        """Variables that a kubelet sets: the API server's address, and Services unless links are off."""
        found = {"KUBERNETES_SERVICE_HOST": API_ADDRESS, "KUBERNETES_SERVICE_PORT": "443"}
        if spec.get("enableServiceLinks", True):
            for each in (await self.cluster.request("GET", path_of("Service", NAMESPACE)))["items"]:
                name = each["metadata"]["name"].upper().replace("-", "_")
                port = each["spec"]["ports"][0]["port"]
                found[f"{name}_PORT"] = f"tcp://{each['spec']['clusterIP']}:{port}"
        return found

    # -- what a cluster has beside pods ---------------------------------------------------------------------

    async def _to_api_server(self) -> Streams:
        host, _, port = self.cluster.control_plane.url.removeprefix("https://").rpartition(":")
        return await asyncio.open_connection(host, int(port))

    def _route(self, host: str, port: int) -> Connect | None:
        return self._routes.get((host, port))

    async def _route_services(self, labels: Mapping[str, str], pod: Pod) -> None:
        for service in (await self.cluster.request("GET", path_of("Service", NAMESPACE)))["items"]:
            address = service["spec"]["clusterIP"]
            for port, connect in endpoints(service, labels, pod).items():
                self._routes[address, port] = connect
                if address == SERVICE_ADDRESS:
                    await self.node.listen(address, port, connect)

    async def _make_certificates(self) -> None:
        source = self._values.get("tls", {}).get("source")
        if source == "selfSigned":
            for name in ("paddock-authority", "paddock-client-tls"):
                self._stack.push_async_callback(self._forget_secret, name)
        if source != "secret":
            return
        made = certificates(self._folder / "tls", f"paddock.{NAMESPACE}.svc")
        for name, side in (("paddock-tls", "server"), ("paddock-client-tls", "client")):
            files = {"tls.crt": f"{side}.crt", "tls.key": f"{side}.key", "ca.crt": "ca.crt"}
            data = {
                key: base64.b64encode((made.folder / file).read_bytes()).decode()
                for key, file in files.items()
            }
            meta = {"name": name, "namespace": NAMESPACE}
            await self.cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})
            self._stack.push_async_callback(self._delete, path_of("Secret", NAMESPACE, name))

    async def _forget_secret(self, name: str) -> None:
        """Delete what Paddock made, since it is no part of the release."""
        with suppress(ApiFailure):
            await self._delete(path_of("Secret", NAMESPACE, name))

    async def _delete(self, path: str) -> None:
        await self.cluster.request("DELETE", path)

    async def _data(self, name: str) -> dict[str, str]:
        found = await self.cluster.request("GET", path_of("ConfigMap", NAMESPACE, name))
        data: dict[str, str] = found["data"]
        return data

    async def _write_scheduler_config(self, folder: Path) -> None:
        (text,) = (await self._data("paddock-scheduler-config")).values()
        (folder / "scheduler-config.yaml").write_text(text)

    def _write_kubeconfig(self, path: Path, user: str) -> None:
        plane = self.cluster.control_plane
        document = json.loads(plane.kubeconfig(user, f"https://127.0.0.1:{_NODE_PORT}").read_text())
        (cluster,) = document["clusters"]
        del cluster["cluster"]["insecure-skip-tls-verify"]
        cluster["cluster"]["certificate-authority-data"] = base64.b64encode(plane.authority).decode()
        path.write_text(yaml.safe_dump(document))


def paddock_of(pods: Sequence[Pod]) -> Pod:
    """The pod with Paddock's container."""
    (found,) = (pod for pod in pods if "paddock" in pod.programs)
    return found
