// Plans of preemption in words, with the laws behind a disclosure, and why other plans were stopped.

import { ask } from '../api.js';
import { html } from '../html.js';
import { Choice, Filters, NodeLink, PodLink, QueueLink, Search, State, Time, includes } from '../parts.js';

const MOST = 200;

export const title = () => 'Preemptions';

export async function load({ signal }) {
  const { preemptions } = await ask('debug/preemptions', { signal });
  return { plans: preemptions };
}

const split = (pod) => {
  const [namespace, name] = pod.split(/\/(.*)/s);
  return { namespace, name: name ?? '' };
};

const Pod = ({ pod }) => (pod.includes('/') ? html`<${PodLink} ...${split(pod)} />` : html`<bdi>${pod}</bdi>`);

const WHY = {
  guarantee: 'its queue is below its guarantee',
  'required-node': 'the pod of a DaemonSet may run on no other node',
  quota: 'a queue uses more than its lowered max',
};

const STOPS = {
  NotAnAsk: 'it does not wait for capacity', SwitchedOff: 'preemption is switched off', NeverPreempts: 'its priority class never preempts',
  AlreadyTriggered: 'a plan was made for it already', TooYoung: 'it has not waited long enough', TriedLately: 'it was tried a short time ago',
  HeldBack: 'plans of its queue failed recently', Limited: 'too many evictions are under way', BacksOff: 'it backs off',
  NotOursToJudge: 'kube-scheduler has to judge where it fits', QueueNotBelowGuarantee: 'its queue is not below its guarantee',
  NoVictims: 'no pod may be evicted for it', NoNode: 'no node would have capacity', HeadroomStaysShort: 'its queues would still be too full',
  ThereIsRoom: 'there is capacity without it', Stale: 'the cluster changed meanwhile',
};

const list = (pods) => pods.map((pod, at) => html`${at ? ', ' : ''}<${Pod} pod=${pod} />`);

export function sentenceOf(entry) {
  if (entry.refused) return html`<span>Nothing is evicted for <${Pod} pod=${entry.pod} />: ${STOPS[entry.refused] ?? entry.refused}.</span>`;
  const who = html`<span>${list(entry.victims ?? [])}${entry.node ? html` on <${NodeLink} name=${entry.node} />` : null}</span>`;
  if (entry.breaches) return html`<span>A plan for <${Pod} pod=${entry.pod} /> was dropped, since it broke a law.</span>`;
  return html`<span>Evicted for <${Pod} pod=${entry.pod} />, because ${WHY[entry.kind] ?? entry.kind}: ${who}.</span>`;
}

// Equal stops as one entry, which is the newest of them: a plan that is stopped is tried again and again.
export function folded(plans) {
  const known = new Map();
  for (const each of plans) {
    const key = each.refused ? JSON.stringify([each.pod, each.queue, each.refused]) : known.size;
    const entry = known.get(key);
    if (entry) Object.assign(entry, { times: entry.times + 1, first: each.at });
    else known.set(key, { ...each, times: 1, first: each.at });
  }
  return [...known.values()];
}

export function Show({ data, params, local }) {
  const { search = '', kind = 'plans' } = params;
  const wanted = (each) => (kind === 'all' || (kind === 'plans') === !each.refused)
    && (!search || includes([each.pod, each.queue, each.node, ...(each.victims ?? [])].join(' '), search));
  const found = folded(data.plans.filter(wanted)).slice(0, MOST);
  return html`<div>
    <${Filters}>
      <${Search} name="search" label="Search pods, queues, nodes" value=${params.search} />
      <${Choice} name="kind" label="Show" value=${kind} options=${[['plans', 'plans'], ['stopped', 'stopped plans'], ['all', 'both']]} />
    </${Filters}>
    ${found.length ? html`<ol class="plans">${found.map((each) => planOf(each, local))}</ol>`
      : html`<p class="empty">${data.plans.length ? 'No plan matches these filters.' : 'No preemption was planned since this process started.'}</p>`}
  </div>`;
}

const planOf = (each, local) => html`<li key=${`${each.at} ${each.pod} ${each.refused ?? ''}`}>
  <p><${State} kind=${each.refused ? 'idle' : 'waits'}>${each.refused ? 'stopped' : each.breaches ? 'dropped' : 'planned'}</${State}> <${Time} at=${Date.parse(each.at)} local=${local} />${' '}
    ${each.times > 1 ? html`(${each.times} times since <${Time} at=${Date.parse(each.first)} local=${local} />)` : null}${each.queue ? html` in <${QueueLink} path=${each.queue} />` : null}</p>
  <p>${sentenceOf(each)}</p>
  ${(each.receipt?.victims ?? []).filter((victim) => victim.why).map((victim) => html`<p><${Pod} pod=${victim.pod} />: ${victim.why}</p>`)}
  <details><summary>Laws and figures</summary>${lawsOf(each)}</details>
</li>`;

function lawsOf(each) {
  const findings = each.receipt
    ? [...each.receipt.preemptor.map((found) => [each.pod, found]), ...each.receipt.victims.flatMap((victim) => victim.findings.map((found) => [victim.pod, found]))]
    : (each.breaches ?? []).map((found) => [found.victim, found]);
  if (!findings.length) return html`<pre>${JSON.stringify(each.why ?? {}, null, 2)}</pre>`;
  return html`<ul class="plainly">${findings.map(([pod, { law, text }]) => html`<li><code>${law}</code> <bdi>${pod}</bdi>: ${text}</li>`)}</ul>`;
}
