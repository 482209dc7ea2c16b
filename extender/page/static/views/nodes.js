// Nodes: how full they are, which pods they run, and for which pods they are reserved.

import { amount, own, resourceName, resourcesOf, share } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { Bar, Choice, Filters, NodeLink, Search, State, Table, includes } from '../parts.js';

export const title = () => 'Nodes';

export async function load({ signal }) {
  const nodes = await ask(inPartition('nodes'), { signal });
  return { rows: nodes.map(rowFrom) };
}

export function rowFrom(node) {
  const used = sum(node.allocated, node.occupied);
  return {
    name: node.nodeID,
    capacity: node.capacity ?? {},
    allocated: node.allocated ?? {},
    occupied: node.occupied ?? {},
    available: node.available ?? {},
    used,
    pods: (node.allocations ?? []).length,
    foreign: (node.foreignAllocations ?? []).length,
    held: node.reservations ?? [],
    schedulable: node.schedulable,
  };
}

const sum = (one = {}, other = {}) => Object.fromEntries(resourcesOf(one, other).map((name) => [name, (own(one, name) ?? 0) + (own(other, name) ?? 0)]));

export function Show({ data, params }) {
  const resources = resourcesOf(...data.rows.map((row) => row.capacity));
  const resource = resources.includes(params.resource) ? params.resource : resources[0] ?? 'vcore';
  const { search = '' } = params;
  const rows = data.rows.filter((row) => !search || includes(row.name, search));
  return html`<div>
    <${Filters}>
      <${Search} name="search" label="Search nodes" value=${params.search} />
      <${Choice} name="resource" label="Resource" value=${resource} options=${resources.map((each) => [each, resourceName(each)])} />
    </${Filters}>
    <p class="count">${rows.length} of ${data.rows.length} nodes; ${rows.filter((row) => row.held.length).length} reserved for pods${', '}
      ${rows.filter((row) => !row.schedulable).length} cordoned</p>
    <${Table} rows=${rows} label=${`Nodes, ${resourceName(resource)}`} sort=${params.sort} keyOf=${(row) => row.name}
      empty=${data.rows.length ? 'No node name contains this.' : 'The cluster has no nodes.'} columns=${columnsOf(resource)} />
  </div>`;
}

const columnsOf = (resource) => {
  const shown = (field) => (row) => amount(resource, own(row[field], resource) ?? 0);
  return [
    { key: 'name', label: 'Node', wide: 14, value: (row) => row.name, cell: (row) => html`<${NodeLink} name=${row.name} />` },
    { key: 'use', label: 'Use', wide: 9, value: (row) => share(own(row.used, resource) ?? 0, own(row.capacity, resource)),
      cell: (row) => html`<${Bar} resource=${resource} used=${own(row.used, resource)} max=${own(row.capacity, resource)} />` },
    { key: 'allocated', label: 'Managed pods', number: true, wide: 7, value: (row) => own(row.allocated, resource) ?? 0, cell: shown('allocated') },
    { key: 'occupied', label: 'Other pods', number: true, wide: 7, value: (row) => own(row.occupied, resource) ?? 0, cell: shown('occupied') },
    { key: 'available', label: 'Free', number: true, wide: 6, value: (row) => own(row.available, resource) ?? 0, cell: shown('available') },
    { key: 'capacity', label: 'Capacity', number: true, wide: 6, value: (row) => own(row.capacity, resource) ?? 0, cell: shown('capacity') },
    { key: 'pods', label: 'Pods', number: true, wide: 5, value: (row) => row.pods, cell: (row) => `${row.pods}+${row.foreign}` },
    { key: 'state', label: 'State', wide: 10, value: (row) => (row.schedulable ? (row.held.length ? 1 : 2) : 0), cell: (row) => stateOf(row) },
  ];
};

export function stateOf(row) {
  if (!row.schedulable) return html`<${State} kind="bad">cordoned</${State}>`;
  if (row.held.length) return html`<${State} kind="waits">reserved for ${row.held.length === 1 ? 'a pod' : `${row.held.length} pods`}</${State}>`;
  return html`<${State} kind="good">open</${State}>`;
}
