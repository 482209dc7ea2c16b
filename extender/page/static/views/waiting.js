// Pods that wait: the one that waits longest first.

import { fromNanoseconds } from '../amounts.js';
import { ask, inPartition } from '../api.js';

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

// The oldest pods that wait: {total, reasons, rows}. query: queue, node and count as the interface knows them.
export async function pendingPods(query, signal) {
  const found = await ask(`${inPartition('pending')}?${new URLSearchParams(query)}`, { signal });
  return {
    total: found.total,
    reasons: found.reasons ?? [],
    rows: (found.pods ?? []).map((each) => requestFrom(each.request, each)),
  };
}
