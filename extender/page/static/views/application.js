// One application: its states with times, pods that wait with reasons, pods on nodes, progress of its gang.

import { amount, amounts, fromNanoseconds, resourceName } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { Facts, Link, NodeLink, Note, PodLink, QueueLink, Ago, State, Table, Time, appStateKind } from '../parts.js';
import { podOf, requestFrom } from './waiting.js';

export const title = ([, id]) => `Application ${id}`;

export async function load({ names: [namespace, id], signal }) {
  const query = namespace ? `?namespace=${encodeURIComponent(namespace)}` : '';
  const path = `${inPartition('application', id)}${query}`;
  try {
    return { app: await ask(path, { signal }) };
  } catch (problem) {
    if (problem.kind !== 'missing') throw problem;
    return { app: await ended(namespace, id, signal, problem) };
  }
}

// Only the lists have applications that ended.
async function ended(namespace, id, signal, problem) {
  for (const list of ['rejected', 'completed']) {
    const apps = await ask(inPartition('applications', list), { signal });
    const found = apps.findLast((each) => each.applicationID === id && (!namespace || each.namespace === namespace));
    if (found) return found;
  }
  throw problem;
}

export function Show({ data: { app }, local }) {
  const requests = (app.requests ?? []).map((each) => requestFrom(each, app));
  return html`<div>
    ${app.rejectedMessage ? html`<${Note} kind="bad"><p>Rejected: ${app.rejectedMessage}</p></${Note}>` : null}
    <${Facts} rows=${factsOf(app, local)} />
    <section><h2>States</h2><ol class="plainly">${(app.stateLog ?? []).map((each) => html`<li>
      <${Time} at=${fromNanoseconds(each.time)} local=${local} /> <${State} kind=${appStateKind(each.applicationState)}>${each.applicationState}</${State}></li>`)}</ol></section>
    ${(app.placeholderData ?? []).length ? html`<section><h2>Gang</h2>${gangOf(app)}</section>` : null}
    <section><h2>Waiting pods</h2>${requests.length ? html`<p><${Link} view="why" names=${[app.namespace ?? '', app.applicationID]}
      params=${{ of: 'application' }}>Why it waits</${Link}></p>` : null}${requestsOf(requests)}</section>
    <section><h2>Pods on nodes</h2>${allocationsOf(app.allocations ?? [], local)}</section>
    <section><h2>Use over time</h2>${historyOf(app)}</section>
  </div>`;
}

const factsOf = (app, local) => [
  ['State', html`<${State} kind=${appStateKind(app.applicationState)}>${app.applicationState}</${State}>`],
  ['Queue', html`<${QueueLink} path=${app.queueName} />`],
  ['Namespace', html`<bdi>${app.namespace ?? '–'}</bdi>`],
  ['User', html`<${Link} view="usage" params=${{ search: app.user }}><bdi>${app.user || '–'}</bdi></${Link}>`],
  ['Groups', (app.groups ?? []).join(', ') || '–'],
  ['Submitted', html`<${Time} at=${fromNanoseconds(app.submissionTime)} local=${local} />`],
  app.finishedTime ? ['Ended', html`<${Time} at=${fromNanoseconds(app.finishedTime)} local=${local} />`] : null,
  ['Used', amounts(app.usedResource)],
  ['Waiting', amounts(app.pendingResource)],
  ['Most used', amounts(app.maxUsedResource)],
  app.backoffDeadline ? ['Backs off until', app.backoffDeadline] : null,
  app.hasReserved ? ['Nodes reserved for', `${app.reservations.length} of its pods`] : null,
];

const gangOf = (app) => html`<${Table} rows=${app.placeholderData} label="Task groups" keyOf=${(each) => each.taskGroupName} empty="" columns=${[
  { key: 'name', label: 'Task group', wide: 12, cell: (each) => html`<bdi>${each.taskGroupName}</bdi>` },
  { key: 'size', label: 'Size of one', wide: 14, cell: (each) => amounts(each.minResource) },
  { key: 'count', label: 'Placeholders', number: true, wide: 7, cell: (each) => each.count ?? 0 },
  { key: 'replaced', label: 'Replaced', number: true, wide: 6, cell: (each) => each.replaced ?? 0 },
  { key: 'timed', label: 'Timed out', number: true, wide: 6, cell: (each) => each.timedout ?? 0 },
]} />`;

const requestsOf = (rows) => html`<${Table} rows=${rows} label="Waiting pods" keyOf=${(row) => row.key} empty="None of its pods waits." columns=${[
  { key: 'pod', label: 'Pod', wide: 16, cell: (row) => html`<${PodLink} namespace=${row.namespace} name=${row.pod} />` },
  { key: 'for', label: 'Waits for', wide: 6, cell: (row) => html`<${Ago} at=${row.since} />` },
  { key: 'size', label: 'Needs', wide: 14, cell: (row) => amounts(row.resource) },
  { key: 'priority', label: 'Priority', number: true, wide: 6, cell: (row) => row.priority },
  { key: 'group', label: 'Task group', wide: 9, cell: (row) => `${row.taskGroup || '–'}${row.placeholder ? ' (placeholder)' : ''}` },
  { key: 'why', label: 'Reason', wide: 26, cell: (row) => row.why || 'not refused by Paddock' },
]} />`;

const allocationsOf = (rows, local) => html`<${Table} rows=${rows} label="Pods on nodes" keyOf=${(row) => row.allocationKey} empty="None of its pods is on a node." columns=${[
  { key: 'pod', label: 'Pod', wide: 16, cell: (row) => html`<${PodLink} ...${podOf(row)} />` },
  { key: 'node', label: 'Node', wide: 10, cell: (row) => html`<${NodeLink} name=${row.nodeId} />` },
  { key: 'size', label: 'Size', wide: 14, cell: (row) => amounts(row.resource) },
  { key: 'since', label: 'Bound', wide: 12, cell: (row) => html`<${Time} at=${fromNanoseconds(row.allocationTime)} local=${local} />` },
  { key: 'kind', label: 'Notes', wide: 12, cell: (row) => notesOf(row) },
]} />`;

const notesOf = (row) =>
  [row.placeholder && 'placeholder', row.placeholderUsed && 'replaced a placeholder', row.preempted && 'being preempted', row.originator && 'first pod']
    .filter(Boolean).join(', ') || '–';

const KINDS = [['resourceUsage', 'of pods that ended by themselves'], ['preemptedResource', 'of pods that preemption removed'], ['placeholderResource', 'of placeholders']];

function historyOf({ resourceHistory = {} }) {
  const lines = KINDS.flatMap(([name, what]) => Object.entries(resourceHistory[name] ?? {}).flatMap(([instance, values]) =>
    Object.entries(values).map(([resource, value]) => [what, instance, resource, value])));
  if (!lines.length) return html`<p class="empty">None of its pods has ended.</p>`;
  return html`<ul class="plainly">${lines.map(([what, instance, resource, value]) => html`<li>
    ${resourceName(resource)} ${amount(resource, value)}·s ${what}, on ${instance}</li>`)}</ul>`;
}
