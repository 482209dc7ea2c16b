// Health with what fails first, use of the cluster, applications by state, who waits longest, recent preemptions.

import { amount, fromNanoseconds, resourceName, resourcesOf } from '../amounts.js';
import { ask, askText, inPartition } from '../api.js';
import { html } from '../html.js';
import { AppLink, Bar, Facts, Link, Missing, PodLink, QueueLink, Ago, State, Time, appStateKind } from '../parts.js';
import { folded, sentenceOf } from './preemptions.js';
import { pendingPods } from './waiting.js';

const LONGEST = 5;
const REASONS = 8;

export const title = () => 'Overview';

export async function load({ signal, attempt }) {
  const [ready, health, partitions, root, waiting, plans, clusters] = await Promise.all([
    attempt(askText('readyz?verbose', { signal, anyStatus: true })),
    attempt(ask('ws/v1/scheduler/healthcheck', { signal })),
    ask('ws/v1/partitions', { signal }),
    ask(inPartition('queue', 'root'), { signal }),
    attempt(pendingPods({ count: LONGEST }, signal)),
    attempt(ask('debug/preemptions', { signal })),
    attempt(ask('ws/v1/clusters', { signal })),
  ]);
  return {
    ready, health, root, plans,
    partition: partitions[0],
    cluster: clusters.value?.[0],
    waiting,
  };
}

export const Show = ({ data, local }) => html`<div class="cards">
  <div class="stack">
    <section><h2>Health</h2>${healthOf(data)}</section>
    <section><h2>Waiting, by reason</h2>${reasonsOf(data.waiting)}</section>
    <section><h2>Applications</h2>${statesOf(data.partition)}</section>
  </div>
  <section><h2>Cluster</h2>${clusterOf(data, local)}</section>
  <section class="wide"><h2>Waiting longest</h2>${longestOf(data.waiting)}</section>
  <section class="wide"><h2>Recent preemptions</h2>${plansOf(data.plans, local)}</section>
</div>`;

function checksOf({ ready, health }) {
  const lines = (ready.value ?? '').split('\n').map((line) => /^\[([+-])\] ([^:]*?)(?: ok|: (.*))?$/.exec(line)).filter(Boolean);
  return [
    ...lines.map(([, sign, name, why]) => ({ name, good: sign === '+', why })),
    ...(health.value?.HealthChecks ?? []).map((each) => ({ name: each.Name, good: each.Succeeded, why: each.DiagnosisMessage })),
  ].sort((one, other) => one.good - other.good);
}

const ORDINARY = new Set(['configuration', 'leading']);

// What readiness says beside its checks, such as watches that are stale.
const notesOf = ({ ready }) => (ready.value ?? '').split('\n').map((line) => /^([^[:]+): (.+)$/.exec(line)).filter(Boolean)
  .map(([, name, text]) => ({ name, text }));

function healthOf(data) {
  const checks = checksOf(data);
  const notes = notesOf(data);
  const amiss = notes.filter((each) => !ORDINARY.has(each.name));
  const failing = checks.filter((each) => !each.good);
  return html`<div>
    ${data.ready.problem ? html`<${Missing} problem=${data.ready.problem} what="Readiness" />` : null}
    ${data.health.problem ? html`<${Missing} problem=${data.health.problem} what="Health checks" />` : null}
    ${failing.length
      ? html`<ul class="plainly">${failing.map((each) => html`<li><${State} kind="bad">${each.name}</${State}>: ${each.why || 'failed'}</li>`)}</ul>`
      : html`<p><${State} kind="good">All ${checks.length} checks succeeded</${State}></p>`}
    ${amiss.length ? html`<ul class="plainly">${amiss.map((each) => html`<li><${State} kind="waits">${each.name}</${State}>: ${each.text}</li>`)}</ul>` : null}
    ${data.ready.value && !amiss.some((each) => each.name === 'stale watches') ? html`<p><${State} kind="good">No watch is stale</${State}></p>` : null}
    <details><summary>All checks</summary><ul class="plainly">${checks.map((each) =>
      html`<li><${State} kind=${each.good ? 'good' : 'bad'}>${each.name}</${State}></li>`)}
      ${notes.map((each) => html`<li>${each.name}: <bdi>${each.text}</bdi></li>`)}</ul></details>
  </div>`;
}

function clusterOf({ partition, root, cluster }, local) {
  const total = partition.capacity.capacity ?? {};
  const used = root.allocatedResource ?? {};
  const waits = root.pendingResource ?? {};
  const build = cluster?.rmBuildInformation?.[0] ?? {};
  return html`<div>
    <div class="scroll" role="region" aria-label="Use of the cluster" tabindex="0"><table class="small"><caption class="unseen">Use of the cluster</caption>
      <thead><tr><th scope="col">Resource</th><th scope="col" class="number">Used</th><th scope="col" class="number">Total</th>
        <th scope="col" class="number">Waiting</th></tr></thead>
      <tbody>${resourcesOf(total, used).map((name) => html`<tr><th scope="row">${resourceName(name)} <${Bar} resource=${name} used=${used[name]} max=${total[name]} /></th>
        <td class="number">${amount(name, used[name] ?? 0)}</td><td class="number">${amount(name, total[name] ?? 0)}</td>
        <td class="number">${amount(name, waits[name] ?? 0)}</td></tr>`)}</tbody></table></div>
    <${Facts} rows=${[
      ['Nodes', html`<${Link} view="nodes">${partition.totalNodes}</${Link}>`],
      ['Managed pods on nodes', partition.totalContainers],
      ['Version', build.buildVersion || '–'],
      ['Running since', html`<${Time} at=${fromNanoseconds(cluster?.startTime)} local=${local} />`],
      ['Configured since', html`<${Time} at=${fromNanoseconds(partition.lastStateTransitionTime)} local=${local} />`],
    ]} />
  </div>`;
}

function statesOf({ applications }) {
  const states = Object.entries(applications).filter(([name, count]) => name !== 'total' && count);
  if (!states.length) return html`<p class="empty">No application is known.</p>`;
  return html`<ul class="plainly">${states.map(([name, count]) => html`<li>
    <${Link} view="applications" params=${paramsOf(name)}><${State} kind=${appStateKind(name)}>${count} ${name}</${State}></${Link}></li>`)}</ul>`;
}

const paramsOf = (state) =>
  ({ Completed: { list: 'completed' }, Failed: { list: 'completed' }, Rejected: { list: 'rejected' } })[state] ?? { state };

function longestOf({ value, problem }) {
  if (problem) return html`<${Missing} problem=${problem} what="Waiting pods" />`;
  if (!value.total) return html`<p class="empty">No pod waits.</p>`;
  return html`<ul class="plainly">${value.rows.map((each) => html`<li><${PodLink} namespace=${each.namespace} name=${each.pod} /> of <${AppLink} namespace=${each.appNamespace}
      id=${each.app} /> in <${QueueLink} path=${each.queue} /> has waited for <b><${Ago} at=${each.since} /></b>: ${each.why || 'not refused by Paddock'}</li>`)}</ul>`;
}

function reasonsOf({ value, problem }) {
  if (problem) return html`<${Missing} problem=${problem} what="Waiting pods" />`;
  if (!value.total) return html`<p class="empty">No pod waits.</p>`;
  return html`<table class="small"><caption class="unseen">Pods that wait, by reason</caption>
    <thead><tr><th scope="col">Reason</th><th scope="col" class="number">Pods</th><th scope="col" class="number">Oldest</th></tr></thead>
    <tbody>${value.reasons.slice(0, REASONS).map((each) => html`<tr><th scope="row">${each.reason || 'not refused by Paddock'}</th>
      <td class="number">${each.pods}</td><td class="number"><${Ago} at=${fromNanoseconds(each.oldest)} /></td></tr>`)}</tbody>
    <tfoot><tr><th scope="row">All</th><td class="number">${value.total}</td><td></td></tr></tfoot></table>`;
}

function plansOf({ value, problem }, local) {
  if (problem) return html`<${Missing} problem=${problem} what="Preemptions" />`;
  const plans = folded(value.preemptions).slice(0, 5);
  if (!plans.length) return html`<p class="empty">No preemption was planned since this process began.</p>`;
  return html`<ul class="plainly">${plans.map((each) => html`<li><${Time} at=${Date.parse(each.at)} local=${local} /> ${sentenceOf(each)}${each.times > 1 ? ` (${each.times} times)` : null}</li>`)}</ul>`;
}
