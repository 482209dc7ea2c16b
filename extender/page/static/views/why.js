// Why a pod waits: sentences, what is needed, free and short in each queue, and who holds it.
// What the interface answers is read in `factsOf` alone.

import { amount, amounts, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, inPartition, twice } from '../api.js';
import { Component, html } from '../html.js';
import { AppLink, Facts, Missing, NodeLink, Note, QueueLink, Time } from '../parts.js';

const HOLDERS = 5;

export const title = ([namespace, name]) => `Pod ${namespace}/${name}`;

export async function load({ names: [namespace, name], signal, attempt }) {
  const story = await ask(`debug/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, { signal });
  const facts = factsOf(story);
  const short = facts.rows.find((row) => row.short > 0);
  const holders = short ? await attempt(holdersIn(short, signal)) : null;
  return { facts, holders };
}

// The view's own form of the answer.
function factsOf(story) {
  const { verdict, size } = story;
  return {
    namespace: story.namespace,
    name: story.name,
    app: story.application,
    appNamespace: story.applicationNamespace,
    queue: story.queue,
    node: story.node,
    size,
    state: verdict.state,
    code: verdict.code,
    text: verdict.text,
    message: verdict.message,
    told: story.told,
    notes: [story.relabelled, story.notCounted, story.fellBack && `placed in ${story.fellBack}, since its own queue does not exist`,
      story.daemonSet && `DaemonSet ${story.daemonSet}`].filter(Boolean),
    gang: story.gang,
    waits: !story.node,
    rows: story.node ? [] : rowsOf(verdict.queues ?? [], size),
    lines: story.story ?? [],
  };
}

// A row for each queue and resource that has a max and that the pod needs: the narrowest first.
function rowsOf(queues, size) {
  const rows = queues.flatMap((queue) => resourcesOf(size).map((name) => {
    const max = own(queue.max, name);
    const needed = size[name];
    if (max === undefined || !needed) return null;
    const free = max - (own(queue.allocated, name) ?? 0) - (own(queue.reserved, name) ?? 0);
    return { queue: queue.queue, name, needed, max, free, short: Math.max(0, needed - free) };
  })).filter(Boolean);
  return rows.sort((one, other) => (other.short > 0) - (one.short > 0));
}

// Applications that use most of what is short in a queue.
async function holdersIn({ queue, name }, signal) {
  const below = (path) => path === queue || path.startsWith(`${queue}.`);
  const [inside, apps] = await Promise.all([
    ask(inPartition('queue', twice(queue)), { signal }),
    ask(inPartition('applications', 'active'), { signal }),
  ]);
  const held = (app) => (app.allocations ?? []).reduce((sum, each) => sum + (own(each.resource, name) ?? 0), 0);
  const found = apps.filter((app) => below(app.queueName)).map((app) => ({ app, held: held(app) })).filter((each) => each.held > 0);
  found.sort((one, other) => other.held - one.held || (one.app.applicationID < other.app.applicationID ? -1 : 1));
  return { queue: inside.queuename, resource: name, count: found.length, most: found.slice(0, HOLDERS) };
}

export const Show = ({ data: { facts, holders }, local }) => html`<div>
  <${Note} kind=${facts.waits ? 'waits' : 'good'}>${sentences(facts).map((each) => html`<p>${each}</p>`)}</${Note}>
  <${Copy} text=${plainText(facts)} />
  <${Facts} rows=${[
    ['Application', facts.app ? html`<${AppLink} namespace=${facts.appNamespace} id=${facts.app} />` : '–'],
    ['Queue', html`<${QueueLink} path=${facts.queue} />`],
    ['Node', html`<${NodeLink} name=${facts.node} />`],
    ['Needs', amounts(facts.size)],
    facts.code ? ['Reason code', html`<code>${facts.code}</code>`] : null,
  ]} />
  ${facts.rows.length ? html`<section><h2>Needed, free and short</h2>${shortTable(facts.rows)}</section>` : null}
  ${holders ? html`<section><h2>Holders</h2>${holdersOf(holders)}</section>` : null}
  ${facts.gang ? html`<section><h2>Gang</h2>${gangOf(facts.gang)}</section>` : null}
  <section><h2>What happened</h2><ol class="plainly">${facts.lines.map((line) => html`<li>
    <${Time} at=${Date.parse(line.at)} local=${local} /> ${line.what}${line.times > 1 ? ` (${line.times} times)` : ''}${line.detail ? `: ${line.detail}` : ''}</li>`)}</ol></section>
</div>`;

function sentences(facts) {
  const found = [];
  if (facts.node) found.push(`The pod is on node ${facts.node}.`);
  else if (facts.message || facts.text) found.push(facts.message || `The pod waits: ${facts.text}`);
  else found.push(`The state of the pod is ${facts.state}.`);
  for (const row of facts.rows.filter((each) => each.short > 0)) {
    found.push(`${row.queue} has ${amount(row.name, Math.max(0, row.free))} of ${resourceName(row.name)} free below its max `
      + `of ${amount(row.name, row.max)}, and the pod needs ${amount(row.name, row.needed)}: ${amount(row.name, row.short)} is short.`);
  }
  if (facts.waits && facts.rows.length && !facts.rows.some((each) => each.short > 0)) found.push('Every queue up to the root has capacity for the pod now.');
  return [...found, ...facts.notes.map((each) => `${each}.`)];
}

const plainText = (facts) => [`Pod ${facts.namespace}/${facts.name}`, ...sentences(facts)].join('\n');

const shortTable = (rows) => html`<div class="scroll" role="region" aria-label="Needed, free and short" tabindex="0"><table class="small">
  <thead><tr><th scope="col">Queue</th><th scope="col">Resource</th>${['Needed', 'Free', 'Short', 'Max'].map((each) => html`<th scope="col" class="number">${each}</th>`)}</tr></thead>
  <tbody>${rows.map((row) => html`<tr class=${row.short ? 'short' : ''}><th scope="row"><${QueueLink} path=${row.queue} /></th><td>${resourceName(row.name)}</td>
    <td class="number">${amount(row.name, row.needed)}</td><td class="number">${amount(row.name, row.free)}</td>
    <td class="number">${row.short ? html`<b>${amount(row.name, row.short)}</b>` : 'none'}</td><td class="number">${amount(row.name, row.max)}</td></tr>`)}</tbody>
</table></div>`;

function holdersOf({ value, problem }) {
  if (problem) return html`<${Missing} problem=${problem} what="Holders" />`;
  if (!value.most.length) return html`<p class="empty">No application holds any of it.</p>`;
  return html`<div><p>Most of ${resourceName(value.resource)} in <${QueueLink} path=${value.queue} />, by ${value.count} application${value.count === 1 ? '' : 's'}:</p>
    <ol class="plainly">${value.most.map(({ app, held }) => html`<li>
      <${AppLink} namespace=${app.namespace} id=${app.applicationID} /> holds ${amount(value.resource, held)}</li>`)}</ol></div>`;
}

function gangOf(gang) {
  const progress = gang.progress ?? [];
  return html`<div>
    ${(gang.wrong ?? []).map((each) => html`<p>${each}</p>`)}
    ${gang.phase ? html`<p>Phase: ${gang.phase}${gang.why ? `, ${gang.why}` : ''}</p>` : null}
    ${progress.length ? html`<ul class="plainly">${progress.map((each) => html`<li><bdi>${each.name}</bdi>: ${each.placeholdersBound + each.replaced} of ${each.needed} placed, ${each.placeholdersPending} placeholders and ${each.membersWaiting} members wait</li>`)}</ul>` : null}
    ${gang.podGroup ? html`<p>Pod group <bdi>${gang.podGroup}</bdi>, at least ${gang.minAvailable} members: ${gang.standing ?? '–'}</p>` : null}
  </div>`;
}

class Copy extends Component {
  render({ text }, { done }) {
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        this.setState({ done: 'Copied' });
      } catch {
        this.setState({ done: 'The browser does not allow it' });
      }
    };
    return html`<p><button type="button" onClick=${copy}>Copy as text</button> <span role="status">${done ?? ''}</span></p>`;
  }
}
