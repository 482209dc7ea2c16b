// One queue: the limits that bind up the chain, its policies, its applications, what waits, its users.

import { amount, amounts, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, inPartition, twice } from '../api.js';
import { html } from '../html.js';
import { AppLink, Facts, Link, Missing, PodLink, QueueLink, Ago, Bar, State, Table, appStateKind } from '../parts.js';
import { Past, pastOf, spanIn } from './past.js';
import { pendingPods } from './waiting.js';

const MOST_WAITING = 500;

export const title = ([path]) => `Queue ${path}`;

const ancestorsOf = (path) => path.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'));

export async function load({ names: [path], params, signal, attempt }) {
  const chain = ancestorsOf(path);
  const [queues, past, waiting, apps, users] = await Promise.all([
    Promise.all(chain.map((each) => ask(inPartition('queue', twice(each)), { signal }))),
    attempt(pastOf(path, spanIn(params), signal)),
    attempt(pendingPods({ queue: path, count: MOST_WAITING }, signal)),
    attempt(ask(inPartition('queue', twice(path), 'applications'), { signal })),
    attempt(ask(inPartition('usage', 'users'), { signal })),
  ]);
  return { chain: queues, queue: queues.at(-1), apps, users, waiting, past };
}

export const Show = ({ data, params, local }) => html`<div>
  <section><h2>Limits</h2>${limitsOf(data)}</section>
  <section><h2>Past</h2><${Past} past=${data.past} params=${params} local=${local} /></section>
  <section><h2>Policy</h2>${policyOf(data.queue)}</section>
  ${(data.queue.childNames ?? []).length ? html`<section><h2>Queues below</h2><ul class="plainly">
    ${data.queue.childNames.map((each) => html`<li><${QueueLink} path=${each} /></li>`)}</ul></section>` : null}
  <section><h2>Waiting pods</h2>${waitingIn(data.waiting)}</section>
  ${data.queue.isLeaf ? html`<section><h2>Applications</h2>${appsOf(data, params)}</section>` : null}
  <section><h2>Users</h2>${usersOf(data)}</section>
</div>`;

function limitsOf({ chain, queue }) {
  const resources = resourcesOf(...chain.flatMap((each) => [each.maxResource, each.guaranteedResource]), queue.allocatedResource, queue.pendingResource);
  const headroom = queue.headroom ?? {};
  return html`<div class="scroll" role="region" aria-label="Limits up to the root" tabindex="0"><table class="small">
    <caption>Each resource in this queue and its ancestors. A pod fits if every queue has capacity for it.</caption>
    <thead><tr><th scope="col">Queue</th><th scope="col">Resource</th><th scope="col">Use</th>
      ${['Used', 'Guaranteed', 'Max', 'Waiting', 'Free'].map((each) => html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
    <tbody>${[...chain].reverse().flatMap((each) => resources.map((name) => limitRow(each, name)))}</tbody>
    <tfoot><tr><th scope="row" colspan="3">Headroom of this queue</th><td colspan="5" class="number">${amounts(headroom)}</td></tr></tfoot>
  </table></div>`;
}

function limitRow(queue, name) {
  const used = own(queue.allocatedResource, name) ?? 0;
  const max = own(queue.maxResource, name);
  const cells = [used, own(queue.guaranteedResource, name), max, own(queue.pendingResource, name) ?? 0, max === undefined ? undefined : max - used];
  return html`<tr><th scope="row"><${QueueLink} path=${queue.queuename} /></th><td>${resourceName(name)}</td>
    <td><${Bar} resource=${name} used=${used} max=${max} guaranteed=${own(queue.guaranteedResource, name)} /></td>
    ${cells.map((value) => html`<td class="number">${amount(name, value)}</td>`)}</tr>`;
}

const yes = (flag) => (flag ? 'yes' : 'no');

const policyOf = (queue) => html`<${Facts} rows=${[
  ['State', queue.status || 'Active'],
  ['Made by', queue.isManaged ? 'the document' : 'placement'],
  ['Order', queue.sortingPolicy || '–'],
  ['Higher priority first', yes(queue.prioritySorting)],
  ['Applications running', `${queue.runningApps ?? 0} of ${queue.maxRunningApps || 'no limit'}`],
  ['Preemption', queue.preemptionEnabled ? `after ${queue.preemptionDelay}` : 'switched off'],
  ['Preemption stays inside', yes(queue.isPreemptionFence)],
  ['Priorities stay inside', yes(queue.isPriorityFence)],
  ['A lowered max is enforced', queue.quotaPreemptionDelay === '0s' ? 'never' : `after ${queue.quotaPreemptionDelay}`],
  queue.preemptingResource ? ['Being preempted', amounts(queue.preemptingResource)] : null,
]} />`;

function waitingIn({ value, problem }) {
  if (problem) return html`<${Missing} problem=${problem} what="Waiting pods" />`;
  const beyond = value.total - value.rows.length;
  return html`<div>${waitingTable(value.rows)}${beyond > 0 ? html`<p class="count">${beyond} more wait, and came later.</p>` : null}</div>`;
}

const waitingTable = (rows) => html`<${Table} rows=${rows} label="Waiting pods, the oldest first" keyOf=${(row) => row.key}
  empty="No pod waits in this queue." columns=${[
    { key: 'pod', label: 'Pod', wide: 16, cell: (row) => html`<${PodLink} namespace=${row.namespace} name=${row.pod} />` },
    { key: 'app', label: 'Application', wide: 12, cell: (row) => html`<${AppLink} namespace=${row.appNamespace} id=${row.app} />` },
    { key: 'for', label: 'Waits for', wide: 6, cell: (row) => html`<${Ago} at=${row.since} />` },
    { key: 'priority', label: 'Priority', wide: 6, number: true, cell: (row) => row.priority },
    { key: 'size', label: 'Needs', wide: 14, cell: (row) => amounts(row.resource) },
    { key: 'why', label: 'Reason', wide: 26, cell: (row) => row.why || 'not refused by Paddock' },
  ]} />`;

function appsOf({ apps }, params) {
  if (apps.problem) return html`<${Missing} problem=${apps.problem} what="Applications" />`;
  return html`<${Table} rows=${apps.value} label="Applications of this queue" sort=${params.sort} keyOf=${(app) => `${app.namespace}/${app.applicationID}`}
    empty="No application is in this queue." columns=${[
      { key: 'app', label: 'Application', wide: 16, value: (app) => app.applicationID, cell: (app) => html`<${AppLink} namespace=${app.namespace} id=${app.applicationID} />` },
      { key: 'state', label: 'State', wide: 8, value: (app) => app.applicationState, cell: (app) => html`<${State} kind=${appStateKind(app.applicationState)}>${app.applicationState}</${State}>` },
      { key: 'user', label: 'User', wide: 10, value: (app) => app.user ?? '', cell: (app) => html`<bdi>${app.user ?? '–'}</bdi>` },
      { key: 'used', label: 'Used', wide: 14, cell: (app) => amounts(app.usedResource) },
      { key: 'waits', label: 'Waiting pods', wide: 7, number: true, value: (app) => (app.requests ?? []).length, cell: (app) => (app.requests ?? []).length },
    ]} />`;
}

function usersOf({ users, queue }) {
  if (users.problem) return html`<${Missing} problem=${users.problem} what="Users" />`;
  const found = users.value.map((user) => [user.userName, inQueue(user.queues, queue.queuename)]).filter(([, usage]) => usage);
  if (!found.length) return html`<p class="empty">Nobody uses this queue.</p>`;
  return html`<ul class="plainly">${found.map(([name, usage]) => html`<li><${Link} view="usage" params=${{ search: name }}><bdi>${name}</bdi></${Link}>${': '}
    ${amounts(usage.resourceUsage)}${usage.maxResources ? ` of ${amounts(usage.maxResources)}` : ''}</li>`)}</ul>`;
}

function inQueue(usage, path) {
  if (!usage || usage.queuePath === path) return usage ?? null;
  return (usage.children ?? []).map((each) => inQueue(each, path)).find(Boolean) ?? null;
}
