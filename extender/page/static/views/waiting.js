// Pods that wait, from a list of applications: the one that waits longest first.

import { fromNanoseconds } from '../amounts.js';

const NAME = 'kubernetes.io/meta/podName';
const NAMESPACE = 'kubernetes.io/meta/namespace';

// Namespace and name of the pod of a request or an allocation.
export function podOf({ allocationTags: tags = {}, allocationKey }) {
  return { namespace: tags[NAMESPACE] ?? '', name: tags[NAME] ?? allocationKey };
}

export function requestFrom(request, app) {
  const { namespace, name } = podOf(request);
  return {
    namespace,
    pod: name,
    key: request.allocationKey,
    app: app.applicationID,
    appNamespace: app.namespace ?? '',
    user: app.user ?? '',
    queue: app.queueName,
    since: fromNanoseconds(request.requestTime),
    priority: Number(request.priority ?? 0),
    resource: request.resource ?? {},
    taskGroup: request.taskGroupName ?? '',
    placeholder: request.placeholder ?? false,
    log: request.allocationLog ?? [],
    why: request.allocationLog?.at(-1)?.message ?? '',
  };
}

export function waitingOf(apps) {
  const found = apps.flatMap((app) => (app.requests ?? []).map((request) => requestFrom(request, app)));
  const began = ({ since }) => since ?? Number.MAX_VALUE;
  return found.sort((one, other) => began(one) - began(other) || (one.key < other.key ? -1 : 1));
}
