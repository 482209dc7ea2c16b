// The tree of queues with one resource's used, guaranteed, max and waiting amounts, and a search.

import { amount, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { Bar, Choice, Filters, QueueLink, Search, State, Table, includes } from '../parts.js';
import { setParams } from '../route.js';

const OPEN_AT_ONCE = 60;

export const title = () => 'Queues';

export async function load({ signal }) {
  const root = await ask(inPartition('queues'), { signal });
  return { root, all: flattened(root) };
}

function flattened(root) {
  const rows = [];
  const visit = (queue, depth) => {
    rows.push({ queue, path: queue.queuename, depth, inner: (queue.children ?? []).length > 0 });
    for (const child of queue.children ?? []) visit(child, depth + 1);
  };
  visit(root, 0);
  return rows;
}

const AMOUNTS = ['allocatedResource', 'pendingResource', 'guaranteedResource', 'maxResource'];

export function Show({ data, params }) {
  const resources = resourcesOf(...data.all.flatMap(({ queue }) => AMOUNTS.map((name) => queue[name])));
  const resource = resources.includes(params.resource) ? params.resource : resources[0] ?? 'vcore';
  const rows = rowsOf(data, params, resource);
  return html`<div>
    <${Filters}>
      <${Search} name="search" label="Search queues" value=${params.search} />
      <${Choice} name="resource" label="Resource" value=${resource} options=${resources.map((each) => [each, resourceName(each)])} />
      <button type="button" onClick=${() => setParams({ turned: '', closed: 'none' })}>Expand all</button>
      <button type="button" onClick=${() => setParams({ turned: '', closed: 'all' })}>Collapse all</button>
    </${Filters}>
    <${Table} rows=${rows} columns=${columnsOf(resource, params)} label=${`Queues, ${resourceName(resource)}`} keyOf=${(row) => row.path}
      empty=${params.search ? 'No queue path contains this.' : 'There are no queues.'} />
  </div>`;
}

const remembered = { key: null, rows: [] };

// The same list for the same question, so that scrolling sorts and filters nothing anew.
function rowsOf(data, params, resource) {
  const key = [data, params.search, params.turned, params.closed, resource];
  if (remembered.key && key.every((each, at) => each === remembered.key[at])) return remembered.rows;
  Object.assign(remembered, { key, rows: params.search ? found(data.all, params.search) : unfolded(data.all, params) });
  return remembered.rows;
}

// Queues that match, with their ancestors.
function found(all, search) {
  const wanted = new Set();
  for (const { path } of all) {
    if (!includes(path, search)) continue;
    const parts = path.split('.');
    parts.forEach((_, at) => wanted.add(parts.slice(0, at + 1).join('.')));
  }
  return all.filter(({ path }) => wanted.has(path));
}

const turnedIn = ({ turned = '' }) => new Set(turned.split(',').filter(Boolean));

function startsOpen(row, all, { closed }) {
  if (row.depth === 0 || closed === 'none') return true;
  return closed !== 'all' && all.length <= OPEN_AT_ONCE;
}

const state = { all: [] };

function unfolded(all, params) {
  state.all = all;
  const turned = turnedIn(params);
  const rows = [];
  let hidden = Infinity;
  for (const row of all) {
    if (row.depth > hidden) continue;
    hidden = Infinity;
    rows.push(row);
    if (!isOpen(row, turned, params)) hidden = row.depth;
  }
  return rows;
}

const isOpen = (row, turned, params) => startsOpen(row, state.all, params) !== turned.has(row.path);

function turn(path, params) {
  const turned = turnedIn(params);
  if (!turned.delete(path)) turned.add(path);
  setParams({ turned: [...turned].join(',') });
}

function columnsOf(resource, params) {
  const turned = turnedIn(params);
  const of = (name) => ({ queue }) => own(queue[name], resource);
  const shown = (name) => (row) => amount(resource, of(name)(row) ?? (name.startsWith('all') || name.startsWith('pend') ? 0 : undefined));
  return [
    { key: 'queue', label: 'Queue', wide: 20, cell: (row) => nameOf(row, turned, params) },
    { key: 'use', label: 'Use', wide: 9, cell: (row) => html`<${Bar} resource=${resource} used=${of('allocatedResource')(row)}
        guaranteed=${of('guaranteedResource')(row)} max=${of('maxResource')(row)} />` },
    { key: 'used', label: 'Used', number: true, wide: 6, cell: shown('allocatedResource') },
    { key: 'guaranteed', label: 'Guaranteed', number: true, wide: 7, cell: shown('guaranteedResource') },
    { key: 'max', label: 'Max', number: true, wide: 6, cell: shown('maxResource') },
    { key: 'pending', label: 'Waiting', number: true, wide: 6, cell: shown('pendingResource') },
    { key: 'running', label: 'Running', number: true, wide: 5, cell: ({ queue }) => running(queue) },
    { key: 'state', label: 'State', wide: 11, cell: ({ queue }) => stateOf(queue, resource) },
  ];
}

function nameOf(row, turned, params) {
  const name = html`<${QueueLink} path=${row.path} />`;
  const open = isOpen(row, turned, params);
  const fold = row.inner && !params.search
    ? html`<button type="button" class="fold" aria-expanded=${String(open)} aria-label=${`Queues below ${row.path}`}
        onClick=${() => turn(row.path, params)}></button>`
    : html`<span class="fold"></span>`;
  return html`<span class="tree" style=${{ paddingInlineStart: `${Math.min(row.depth, 12) * 0.9}rem` }}>${fold}${name}</span>`;
}

const running = ({ runningApps = 0, maxRunningApps = 0 }) => (maxRunningApps ? `${runningApps}/${maxRunningApps}` : runningApps);

export function stateOf(queue, resource) {
  const used = own(queue.allocatedResource, resource) ?? 0;
  const most = own(queue.maxResource, resource);
  const guaranteed = own(queue.guaranteedResource, resource);
  if (queue.status && queue.status !== 'Active') return html`<${State} kind="bad">${queue.status}</${State}>`;
  if (queue.isQuotaPreemptionRunning) return html`<${State} kind="bad">above a lowered max</${State}>`;
  if (most !== undefined && used >= most && queue.parent) return html`<${State} kind="waits">at its max</${State}>`;
  if (guaranteed && used < guaranteed && own(queue.pendingResource, resource)) return html`<${State} kind="bad">below its guarantee</${State}>`;
  if (guaranteed && used > guaranteed) return html`<${State} kind="good">above its guarantee</${State}>`;
  return html`<${State} kind=${used ? 'good' : 'idle'}>${used ? 'in use' : 'idle'}</${State}>`;
}
