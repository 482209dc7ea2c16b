// Why a pod or an application waits: what the interface explains, in sentences, figures and links.
// Tenants read the explanation alone. Who may read more also sees the node, the size and the gang.

import { amount, amounts, resourceName } from '../amounts.js';
import { ask } from '../api.js';
import { Component, html } from '../html.js';
import { AppLink, Facts, Link, Missing, NodeLink, Note, QueueLink, Time } from '../parts.js';
import { beforeOf, changesOf, figuresOf, holdersOf, nodesOf, preemptionOf, reasonsOf } from './obstacles.js';

const SUBJECTS = { pod: 'Pod', application: 'Application', podgroup: 'Pod group' };

const subjectIn = ({ of }) => (Object.hasOwn(SUBJECTS, of ?? '') ? of : 'pod');

export const title = ([namespace, name], params) => `${SUBJECTS[subjectIn(params)]} ${namespace}/${name}`;

export async function load({ names: [namespace, name], params, signal, attempt }) {
  const of = subjectIn(params);
  const path = `namespaces/${encodeURIComponent(namespace)}/explanations/${encodeURIComponent(name)}`;
  const [found, story] = await Promise.all([
    ask(`apis/paddock.dev/v1alpha1/${path}${of === 'pod' ? '' : `?of=${of}`}`, { signal }),
    of === 'pod' ? attempt(ask(`debug/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, { signal })) : { value: null },
  ]);
  return { found, story };
}

export function Show({ data: { found, story }, local }) {
  const pod = found.pod ?? {};
  const seen = story.value ?? {};
  const obstacles = pod.obstacles ?? [];
  const said = sentences(found, seen);
  return html`<div>
    <${Note} kind=${obstacles.length ? 'waits' : 'good'}>${said.map((each) => html`<p>${each}</p>`)}</${Note}>
    <${Copy} texts=${{ 'Copy as text': [headOf(found), ...said].join('\n'), 'Copy as a command': commandOf(found) }} />
    <${Facts} rows=${factsOf(found, seen, local)} />
    ${found.namesOthers ? null : html`<p class="quiet">Your token may not read the names of others. They are summed by queue.</p>`}
    ${story.problem ? html`<${Missing} problem=${story.problem} what="Node, size and gang" />` : null}
    ${figuresOf(obstacles)}
    ${obstacles.length ? html`<section><h2>Reasons</h2>${reasonsOf(obstacles, local)}</section>` : null}
    ${holdersOf(obstacles)}
    ${pod.remedies ? html`<section><h2>What would help</h2>${changesOf(pod.remedies)}</section>` : null}
    ${pod.before ? html`<section><h2>Goes first</h2>${beforeOf(pod.before)}</section>` : null}
    ${pod.preemption ? html`<section><h2>Preemption</h2>${preemptionOf(pod.preemption, local)}</section>` : null}
    ${pod.nodes ? html`<section><h2>Nodes</h2>${nodesOf(pod.nodes)}</section>` : null}
    ${membersOf(found)}
    ${seen.gang ? html`<section><h2>Gang</h2>${gangOf(seen.gang)}</section>` : null}
    ${found.story ? html`<section><h2>What happened</h2>${storyOf(found.story, local)}</section>` : null}
  </div>`;
}

function factsOf(found, seen, local) {
  const pod = found.pod ?? {};
  const app = found.of === 'application' ? found.metadata.name : pod.application;
  return [
    found.of === 'pod' || !pod.pod ? null : ['First pod that waits', html`<bdi>${pod.pod.name}</bdi>`],
    app ? ['Application', html`<${AppLink} namespace=${seen.applicationNamespace ?? found.metadata.namespace} id=${app} />`] : null,
    ['Queue', html`<${QueueLink} path=${found.queue} />`],
    found.phase ? ['State', found.phase] : null,
    found.pods ? ['Pods', Object.entries(found.pods).map(([standing, count]) => `${count} ${standing}`).join(', ')] : null,
    seen.placement ? ['Queue chosen by', originOf(seen, found.queue)] : null,
    seen.node ? ['Node', html`<${NodeLink} name=${seen.node} />`] : null,
    seen.size ? ['Needs', amounts(seen.size)] : null,
    found.until ? ['Ends by itself', html`<${Time} at=${Date.parse(found.until)} local=${local} />`] : null,
    ['As of', html`<${Time} at=${Date.parse(found.at)} local=${local} />${found.oneMoment ? '' : ', figures of several moments'}`],
  ];
}

// Where the queue came from: the name on the first pod of the application, or the rules of the document.
function originOf({ placement, name }, queue) {
  const { requested, passedOver, definedBy } = placement;
  const pod = definedBy && definedBy !== name ? html`pod <bdi>${definedBy}</bdi>, the first of its application` : 'the pod itself';
  const rules = html`<${Link} view="configuration">the placement rules</${Link}>`;
  if (!requested) return html`<span>${rules}, since no queue was named</span>`;
  if (passedOver || !queue) return html`<span>${rules}, instead of <bdi>${requested}</bdi>${passedOver ? `: ${passedOver}` : ''}</span>`;
  return html`<span>${pod}, which named <bdi>${requested}</bdi></span>`;
}

// -- sentences ------------------------------------------------------------------------------------------------

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const ended = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

function sentences(found, seen) {
  const [first, ...others] = found.pod?.obstacles ?? [];
  const notes = [seen.relabelled, seen.notCounted, seen.fellBack && `it was placed in ${seen.fellBack}, since its own queue does not exist`,
    seen.daemonSet && `it is of the DaemonSet ${seen.daemonSet}`].filter(Boolean);
  const told = found.of === 'pod' && first ? `The pod waits: ${found.sentence}` : found.of === 'pod' && seen.node ? `The pod is on node ${seen.node}` : capital(found.sentence);
  return [
    [ended(told), shortOf(first)].filter(Boolean).join(' '),
    ...others.map((each) => [ended(`Also, ${each.text}`), shortOf(each)].filter(Boolean).join(' ')),
    ...notes.map((each) => ended(capital(each))),
  ];
}

function shortOf(obstacle) {
  const limit = obstacle?.limit;
  if (!limit || limit.short <= 0) return '';
  if (!limit.resource) return `All ${limit.max} run.`;
  const shown = (value) => amount(limit.resource, value);
  return `It needs ${shown(limit.needed)} ${resourceName(limit.resource)}, and ${shown(Math.max(0, limit.free))} is free: ${shown(limit.short)} is short.`;
}

const headOf = ({ of, metadata }) => `${SUBJECTS[of]} ${metadata.namespace}/${metadata.name}`;

const quoted = (text) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const commandOf = ({ of, metadata }) =>
  `kubectl paddock explain -n ${quoted(metadata.namespace)} ${quoted(`${{ pod: 'pod', application: 'app', podgroup: 'podgroup' }[of]}/${metadata.name}`)}`;

// -- groups and story -----------------------------------------------------------------------------------------

const membersOf = ({ members }) => (members ? html`<section><h2>Members</h2><ul class="plainly">${members.map((each) => html`<li>
  <bdi>${each.name}</bdi>: ${each.placed} of ${each.needed} placed, ${each.waiting} ${each.waiting === 1 ? 'waits' : 'wait'}</li>`)}</ul></section>` : null);

function gangOf(gang) {
  const progress = gang.progress ?? [];
  return html`<div>
    ${(gang.wrong ?? []).map((each) => html`<p>${each}</p>`)}
    ${gang.phase ? html`<p>Phase: ${gang.phase}${gang.why ? `, ${gang.why}` : ''}</p>` : null}
    ${progress.length ? html`<ul class="plainly">${progress.map((each) => html`<li><bdi>${each.name}</bdi>: ${each.placeholdersBound + each.replaced} of ${each.needed} placed, ${each.placeholdersPending} placeholders and ${each.membersWaiting} members wait</li>`)}</ul>` : null}
    ${gang.podGroup ? html`<p>Pod group <bdi>${gang.podGroup}</bdi>, at least ${gang.minAvailable} members: ${gang.standing ?? '–'}</p>` : null}
  </div>`;
}

const storyOf = (lines, local) => html`<ol class="plainly">${lines.map((line) => html`<li>
  <${Time} at=${Date.parse(line.at)} local=${local} /> ${line.what}${line.times > 1 ? ` (${line.times} times)` : ''}${detailOf(line)}</li>`)}</ol>`;

// Of a refusal both parts begin with its code.
function detailOf({ what, detail = '' }) {
  const code = what.split(': ').at(-1);
  const text = detail.startsWith(`${code}: `) ? detail.slice(code.length + 2) : detail;
  return text && `: ${text}`;
}

class Copy extends Component {
  render({ texts }, { done }) {
    const copy = async (text) => {
      try {
        await navigator.clipboard.writeText(text);
        this.setState({ done: 'Copied' });
      } catch {
        this.setState({ done: 'The browser does not allow it' });
      }
    };
    return html`<p class="buttons">${Object.entries(texts).map(([label, text]) => html`<button type="button" onClick=${() => copy(text)}>${label}</button> `)}
      <span role="status">${done ?? ''}</span></p>`;
  }
}
