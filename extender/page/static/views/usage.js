// Use by users and groups against their limits, by queue.

import { amount, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { Bar, Choice, Filters, Missing, QueueLink, Search, State, Table, includes } from '../parts.js';

export const title = () => 'Users and groups';

export async function load({ signal, attempt }) {
  const [users, groups] = await Promise.all([
    ask(inPartition('usage', 'users'), { signal }),
    attempt(ask(inPartition('usage', 'groups'), { signal })),
  ]);
  const rows = [
    ...users.flatMap((each) => rowsOf('user', each.userName, each.queues)),
    ...(groups.value ?? []).flatMap((each) => rowsOf('group', each.groupName, each.queues)),
  ];
  return { rows, groups };
}

function rowsOf(kind, name, usage) {
  if (!usage) return [];
  const { queuePath: queue, resourceUsage: used = {}, maxResources: max = {}, maxApplications = 0, runningApplications: running = [] } = usage;
  const row = { key: `${kind}/${name}/${queue}`, kind, name, queue, used, max, maxApplications, running: running.length };
  return [row, ...(usage.children ?? []).flatMap((each) => rowsOf(kind, name, each))];
}

export function Show({ data, params }) {
  const resources = resourcesOf(...data.rows.flatMap((row) => [row.used, row.max]));
  const resource = resources.includes(params.resource) ? params.resource : resources[0] ?? 'vcore';
  const { search = '', kind = '' } = params;
  const rows = data.rows.filter((row) => (!kind || row.kind === kind) && (!search || includes(`${row.name} ${row.queue}`, search)));
  return html`<div>
    ${data.groups.problem ? html`<${Missing} problem=${data.groups.problem} what="Groups" />` : null}
    <${Filters}>
      <${Search} name="search" label="Search names and queues" value=${params.search} />
      <${Choice} name="kind" label="Kind" value=${kind} options=${[['', 'users and groups'], ['user', 'users'], ['group', 'groups']]} />
      <${Choice} name="resource" label="Resource" value=${resource} options=${resources.map((each) => [each, resourceName(each)])} />
    </${Filters}>
    <${Table} rows=${rows} label=${`Users and groups, ${resourceName(resource)}`} sort=${params.sort} keyOf=${(row) => row.key}
      empty=${data.rows.length ? 'No row matches these filters.' : 'No user has usage, and no limit names a user or group.'} columns=${columnsOf(resource)} />
  </div>`;
}

const columnsOf = (resource) => [
  { key: 'name', label: 'Name', wide: 14, value: (row) => row.name, cell: (row) => html`<bdi>${row.name}</bdi>` },
  { key: 'kind', label: 'Kind', wide: 5, value: (row) => row.kind, cell: (row) => row.kind },
  { key: 'queue', label: 'Queue', wide: 16, value: (row) => row.queue, cell: (row) => html`<${QueueLink} path=${row.queue} />` },
  { key: 'use', label: 'Use', wide: 9, cell: (row) => html`<${Bar} resource=${resource} used=${own(row.used, resource)} max=${own(row.max, resource)} />` },
  { key: 'used', label: 'Used', number: true, wide: 6, value: (row) => own(row.used, resource) ?? 0, cell: (row) => amount(resource, own(row.used, resource) ?? 0) },
  { key: 'max', label: 'Limit', number: true, wide: 6, value: (row) => own(row.max, resource) ?? Infinity, cell: (row) => amount(resource, own(row.max, resource)) },
  { key: 'running', label: 'Applications', number: true, wide: 7, value: (row) => row.running, cell: (row) => (row.maxApplications ? `${row.running}/${row.maxApplications}` : row.running) },
  { key: 'state', label: 'State', wide: 8, cell: (row) => stateOf(row, resource) },
];

function stateOf(row, resource) {
  const max = own(row.max, resource);
  const used = own(row.used, resource) ?? 0;
  const most = row.maxApplications;
  if ((max !== undefined && used > max) || (most && row.running > most)) return html`<${State} kind="bad">above its limit</${State}>`;
  if ((max !== undefined && used >= max) || (most && row.running >= most)) return html`<${State} kind="waits">at its limit</${State}>`;
  return html`<${State} kind="idle">${max === undefined && !most ? 'no limit' : 'below its limit'}</${State}>`;
}
