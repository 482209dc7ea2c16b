// Parts of an explanation: figures and holders of what is short, what goes first, and what would help.

import { amount, amounts, own, resourceName, resourcesOf } from '../amounts.js';
import { html } from '../html.js';
import { AppLink, Link, NodeLink, PodLink, QueueLink, Time } from '../parts.js';

// -- figures --------------------------------------------------------------------------------------------------

// A row for each resource that is short, or that a limit is about.
const figures = (obstacles) => obstacles.flatMap((each) => {
  if (each.limit) return [{ ...each.limit, owner: ownerOf(each.limit) }];
  return resourcesOf(each.short).map((resource) => ({
    owner: html`<bdi>${each.subject || 'nodes'}</bdi>`, resource, needed: each.needed[resource], free: each.free?.[resource] ?? 0, short: each.short[resource],
  }));
});

function ownerOf({ kind, queue, name }) {
  if (kind === 'cluster') return 'the cluster';
  const path = html`<${QueueLink} path=${queue} />`;
  return name ? html`<span>${kind} <${Link} view="usage" params=${{ search: name }}><bdi>${name}</bdi></${Link}> in ${path}</span>` : path;
}

const shown = (resource, value) => (value === undefined ? '–' : resource ? amount(resource, value) : String(value));

export function figuresOf(obstacles) {
  const rows = figures(obstacles);
  if (!rows.length) return null;
  return html`<section><h2>Needed, free and short</h2><div class="scroll" role="region" aria-label="Needed, free and short" tabindex="0"><table class="small">
    <thead><tr><th scope="col">Limit</th><th scope="col">Resource</th>${['Needed', 'Free', 'Short', 'Max'].map((each) => html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr class="short"><th scope="row">${row.owner}</th><td>${row.resource ? resourceName(row.resource) : 'applications'}</td>
      ${[row.needed, row.free].map((each) => html`<td class="number">${shown(row.resource, each)}</td>`)}
      <td class="number"><b>${shown(row.resource, row.short)}</b></td><td class="number">${shown(row.resource, row.max)}</td></tr>`)}</tbody>
  </table></div></section>`;
}

export const reasonsOf = (obstacles, local) => html`<ul class="plainly">${obstacles.map((each) => html`<li>
  <code>${each.code}</code> ${each.text}${each.until ? html`, until <${Time} at=${Date.parse(each.until)} local=${local} />` : null}${each.others
    ? html`: ${listOf(each.others, podOrSum)}` : null}</li>`)}</ul>`;

// -- others, by name or summed --------------------------------------------------------------------------------

const listOf = (rows, one) => rows.map((each, at) => html`${at ? ', ' : ''}${one(each)}`);

const countOf = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

const sumOf = (each, what) => html`<span>${countOf(each.count ?? 1, what)} of <${QueueLink} path=${each.queue} /></span>`;

const podOrSum = (each) => (each.name ? html`<${PodLink} namespace=${each.namespace} name=${each.name} />` : sumOf(each, 'pod'));

const appOrSum = (each) => (each.name ? html`<${AppLink} namespace=${each.namespace} id=${each.name} />` : sumOf(each, 'application'));

// Applications hold what a limit counts, pods what a node lacks.
export function holdersOf(obstacles) {
  const held = obstacles.filter((each) => each.holders);
  if (!held.length) return null;
  return html`<section><h2>Holders</h2>${held.map(({ limit, subject, short, holders }) => {
    const resource = limit ? limit.resource : Object.keys(short ?? {})[0];
    const what = resource ? resourceName(resource) : limit ? 'applications' : 'capacity';
    return html`<div><p>Most of ${what} in ${limit ? ownerOf(limit) : html`<bdi>${subject || 'the nodes'}</bdi>`}:</p>
      <ol class="plainly">${holders.map((each) => html`<li>${limit ? appOrSum(each) : podOrSum(each)}${resource ? ` holds ${amount(resource, each.amount ?? 0)}` : null}</li>`)}</ol></div>`;
  })}</section>`;
}

// -- order, preemption, nodes ---------------------------------------------------------------------------------

const WHY_FIRST = {
  priority: 'higher priority', share: 'smaller share of what is due', age: 'older', demand: 'larger demand of its queue',
  name: 'all else is equal, so the name decides', others: 'counted only',
};

export const beforeOf = (before) => html`<ul class="plainly">${before.map((each) => html`<li>
  ${countOf(each.pods, 'pod')} of ${each.application ? html`<${AppLink} namespace=${each.namespace} id=${each.application} /> in ` : null}<${QueueLink} path=${each.queue} />:${' '}
  ${WHY_FIRST[each.why] ?? each.why}</li>`)}</ul>`;

export function preemptionOf(part, local) {
  const at = (time) => html`<${Time} at=${Date.parse(time)} local=${local} />`;
  const verdict = part.underWay ? 'A plan is under way.'
    : part.possible ? html`<span>A plan could be made. It would evict ${listOf(part.victims ?? [], podOrSum)}.</span>`
      : part.stop ? html`<span>No plan is made: <code>${part.stop}</code>${part.law ? html`, <code>${part.law}</code>` : null}${part.text ? `: ${part.text}` : ''}.</span>`
        : 'Nothing is known within the budget of the search.';
  return html`<div><p>${verdict}</p>
    ${part.queues ? html`<details><summary>Queues whose pods stay</summary><ul class="plainly">${part.queues.map((each) => html`<li>
      <${QueueLink} path=${each.queue} />: <code>${each.law}</code> ${each.text}</li>`)}</ul></details>` : null}
    <p class="quiet">${part.triedAt ? html`Last tried ${at(part.triedAt)}.` : 'Not tried yet.'}${part.triedNext ? html` Tried again from ${at(part.triedNext)}.` : null}</p></div>`;
}

// For one node, and for several.
const UNFIT = {
  affinity: ['is not admitted by its affinity', 'are not admitted by its affinity'], taint: ['is tainted', 'are tainted'], cordon: ['is cordoned', 'are cordoned'],
  capacity: ['has too little capacity', 'have too little capacity'], reserved: ['is reserved for other pods', 'are reserved for other pods'],
};

export const nodesOf = (nodes) => html`<ul class="plainly">
  <li>${nodes.fitting ?? 0} of ${nodes.judged ?? 0} would take it</li>
  ${Object.entries(nodes.unfit ?? {}).map(([why, count]) => html`<li>${count} ${own(UNFIT, why)?.[count === 1 ? 0 : 1] ?? why}</li>`)}
  ${nodes.left ? html`<li>${nodes.left} not judged within the budget</li>` : null}
  ${nodes.nearest ? html`<li><${NodeLink} name=${nodes.nearest} /> lacks least</li>` : null}
</ul>`;

// -- changes --------------------------------------------------------------------------------------------------

export function changesOf({ remedy, changes, beyond, exhausted }) {
  if (changes) {
    return html`<div><p>Each of these changes gives it its turn. Less of any of them does not help.</p><ul class="plainly">${changes.map((each) => html`<li>
      ${each.text}${each.node ? html` (${amounts(each.node)})` : null}${each.ended ? html`: ${listOf(each.ended, podOrSum)}` : null}</li>`)}</ul></div>`;
  }
  if (remedy === 'nothing') return html`<p>Nothing: the next cycle gives it its turn.</p>`;
  if (remedy === 'out of reach') return html`<p>No limit and no capacity frees it: ${listOf(beyond ?? [], (each) => html`<code>${each}</code>`)}.</p>`;
  return html`<p>No change was found${exhausted ? ' within the budget of the search' : ''}.</p>`;
}
