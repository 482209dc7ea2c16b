// One node: its amounts, the pods on it, and the pods for which it is reserved.

import { amount, amounts, fromNanoseconds, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { AppLink, Bar, Facts, PodLink, Table, Time } from '../parts.js';
import { rowFrom, stateOf } from './nodes.js';
import { pendingPods, podOf } from './waiting.js';

export const title = ([name]) => `Node ${name}`;

export async function load({ names: [name], signal }) {
  const node = await ask(inPartition('node', name), { signal });
  const held = node.reservations ?? [];
  const found = held.length ? (await pendingPods({ node: name }, signal)).rows : [];
  const waiting = new Map(found.map((each) => [each.key, each]));
  return { node, row: rowFrom(node), held: held.map((key) => waiting.get(key) ?? { key }) };
}

export const Show = ({ data: { node, row, held }, local }) => html`<div>
  <${Facts} rows=${[
    ['State', stateOf(row)],
    ['Reserved for', held.length ? held.map((each) => html`<div>${each.pod ? html`<${PodLink} namespace=${each.namespace} name=${each.pod} />` : each.key}</div>`) : 'no pod'],
  ]} />
  <section><h2>Amounts</h2><div class="scroll" role="region" aria-label="Amounts" tabindex="0"><table class="small">
    <thead><tr><th scope="col">Resource</th><th scope="col">Use</th>${['Managed pods', 'Other pods', 'Free', 'Capacity'].map((each) => html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
    <tbody>${resourcesOf(row.capacity, row.used).map((name) => html`<tr><th scope="row">${resourceName(name)}</th>
      <td><${Bar} resource=${name} used=${own(row.used, name)} max=${own(row.capacity, name)} /></td>
      ${['allocated', 'occupied', 'available', 'capacity'].map((each) => html`<td class="number">${amount(name, own(row[each], name) ?? 0)}</td>`)}</tr>`)}</tbody></table></div></section>
  <section><h2>Managed pods</h2>${podsOf(node.allocations ?? [], local, 'No managed pod is on this node.')}</section>
  <section><h2>Other pods</h2>${podsOf(node.foreignAllocations ?? [], local, 'No other pod is on this node.')}</section>
</div>`;

const podsOf = (rows, local, empty) => html`<${Table} rows=${rows} label="Pods" keyOf=${(row) => row.allocationKey} empty=${empty} columns=${[
  { key: 'pod', label: 'Pod', wide: 18, cell: (row) => html`<${PodLink} ...${podOf(row)} />` },
  { key: 'app', label: 'Application', wide: 12, cell: (row) => (row.applicationId ? html`<${AppLink} namespace=${podOf(row).namespace} id=${row.applicationId} />` : '–') },
  { key: 'size', label: 'Size', wide: 14, cell: (row) => amounts(row.resource) },
  { key: 'priority', label: 'Priority', number: true, wide: 6, cell: (row) => row.priority ?? '0' },
  { key: 'since', label: 'Bound', wide: 12, cell: (row) => html`<${Time} at=${fromNanoseconds(row.allocationTime)} local=${local} />` },
]} />`;
