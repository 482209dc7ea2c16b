// The past of a queue: used and pending amounts of one resource, with its guarantee and its max.
// Missing samples are gaps.

import { amount, moment, own, resourceName, resourcesOf } from '../amounts.js';
import { ask, twice } from '../api.js';
import { html } from '../html.js';
import { Choice, Missing } from '../parts.js';

const SPANS = [['1h', 'the last hour'], ['6h', 'six hours'], ['24h', 'a day']];
const WIDE = 720;
const TALL = 160;

export const spanIn = ({ span }) => (SPANS.some(([name]) => name === span) ? span : '1h');

export const pastOf = (path, span, signal) => ask(`ws/v1/history/queue/${twice(path)}?span=${span}`, { signal });

export function Past({ past: { value, problem }, params, local }) {
  if (problem) return html`<${Missing} problem=${problem} what="The past" />`;
  const resources = resourcesOf(value.resources);
  if (!resources.length) return html`<p class="empty">Nothing was recorded yet.</p>`;
  const resource = resources.includes(params.resource) ? params.resource : resources[0];
  return html`<div>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <${Choice} name="span" label="Time" value=${spanIn(params)} options=${SPANS} />
      <${Choice} name="resource" label="Resource" value=${resource} options=${resources.map((each) => [each, resourceName(each)])} />
    </form>
    ${chart(value, resource, local)}
  </div>`;
}

function chart(value, resource, local) {
  const lines = own(value.resources, resource);
  const numbers = Object.values(lines).flat().filter((each) => each !== null);
  const most = Math.max(1, ...numbers);
  const across = (at) => (value.count > 1 ? (at / (value.count - 1)) * WIDE : 0).toFixed(1);
  const up = (number) => (TALL - 4 - (number / most) * (TALL - 12)).toFixed(1);
  const from = value.start / 1e6;
  const until = from + (value.count * value.step) / 1e6;
  return html`<figure class="past">
    <svg viewBox="0 0 ${WIDE} ${TALL}" preserveAspectRatio="none" role="img" aria-label=${said(lines, resource)}>
      ${areas(lines.used, across, up).map((points) => html`<polygon class="used" points=${points} />`)}
      ${KINDS.map(([name]) => runs(lines[name]).map((run) => html`<polyline class=${name} points=${run.map(([at, number]) => `${across(at)},${up(number)}`).join(' ')} />`))}
    </svg>
    <p class="axis"><span>${moment(from, local)}</span><span>${moment(until, local)}</span></p>
    <figcaption>${KINDS.map(([name, label]) => html`<span class="key"><svg viewBox="0 0 24 10" aria-hidden="true"><polyline class=${name} points="0,5 24,5" /></svg>
      ${label} ${amount(resource, last(lines[name]) ?? undefined)}</span>`)}
      <span class="key">top ${amount(resource, most)}</span>
      ${value.thinned ? html`<span class="key">older samples were thinned to save memory</span>` : null}
      ${lostOf(value.memory)}</figcaption>
  </figure>`;
}

// What memory did not suffice for, over all queues.
function lostOf({ unrecorded = 0, dropped = 0 } = {}) {
  const lost = [unrecorded ? `${unrecorded} resources of queues are not recorded` : '', dropped ? `${dropped} were dropped early` : ''].filter(Boolean);
  return lost.length ? html`<span class="key">for lack of memory ${lost.join(', and ')}</span>` : null;
}

const KINDS = [['used', 'used'], ['pending', 'waiting'], ['guaranteed', 'guaranteed'], ['max', 'max']];

const last = (numbers) => numbers?.at(-1);

// Runs of samples without a gap between them: [[place, number], …].
function runs(numbers) {
  const found = [];
  let run = [];
  (numbers ?? []).forEach((number, at) => {
    if (number !== null) run.push([at, number]);
    else if (run.length) { found.push(run); run = []; }
  });
  if (run.length) found.push(run);
  return found.map((each) => (each.length === 1 ? [...each, [each[0][0] + 0.5, each[0][1]]] : each));
}

const areas = (numbers, across, up) => runs(numbers).map((run) =>
  [`${across(run[0][0])},${TALL}`, ...run.map(([at, number]) => `${across(at)},${up(number)}`), `${across(run.at(-1)[0])},${TALL}`].join(' '));

function said(lines, resource) {
  const known = (lines.used ?? []).filter((each) => each !== null);
  const gaps = (lines.used ?? []).length - known.length;
  if (!known.length) return `${resourceName(resource)}: no sample`;
  return `${resourceName(resource)} used: now ${amount(resource, known.at(-1))}, at most ${amount(resource, Math.max(...known))}, `
    + `at least ${amount(resource, Math.min(...known))}; ${gaps ? `${gaps} samples are missing` : 'no sample is missing'}`;
}
