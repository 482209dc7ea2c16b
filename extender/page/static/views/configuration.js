// The document in force, its checksum, and the verdict on another one that is pasted.

import { fromNanoseconds } from '../amounts.js';
import { ask, askText, Problem, request } from '../api.js';
import { differences } from '../differences.js';
import { Component, html } from '../html.js';
import { Facts, Note, State, Time } from '../parts.js';

export const title = () => 'Configuration';

// Reloading would disturb a user who reads or pastes a document.
export const still = true;

export async function load({ signal }) {
  const [text, config] = await Promise.all([
    askText('ws/v1/config', { signal }),
    ask('ws/v1/config', { signal, headers: { Accept: 'application/json' } }),
  ]);
  return { text, config };
}

export const Show = ({ data, local }) => html`<div>
  <${Facts} rows=${[
    ['Checksum', html`<code class="long">${data.config.Checksum ?? '–'}</code>`],
    ['Applied', html`<${Time} at=${fromNanoseconds(data.config.AppliedTime)} local=${local} />`],
  ]} />
  <section><h2>Document in force</h2><pre class="document" tabindex="0" aria-label="Document in force" role="region">${data.text}</pre></section>
  <section><h2>Settings</h2>${settingsOf(data.config.Extra ?? {})}</section>
  <section><h2>Check another document</h2><${Check} running=${data.text} /></section>
</div>`;

// Keys of the ConfigMaps beside the document. Others have their defaults.
function settingsOf(settings) {
  const names = Object.keys(settings).sort();
  if (!names.length) return html`<p class="empty">No key is set, so that all have their defaults.</p>`;
  return html`<${Facts} rows=${names.map((name) => [name, html`<bdi>${settings[name]}</bdi>`])} />`;
}

class Check extends Component {
  render({ running }, { verdict, pasted, problem }) {
    const check = async (event) => {
      event.preventDefault();
      const text = event.currentTarget.elements.namedItem('document').value;
      try {
        const answer = await request('ws/v1/validate-conf', { method: 'POST', body: text });
        this.setState({ verdict: await answer.json(), pasted: text, problem: null });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.setState({ problem: error, verdict: null });
      }
    };
    return html`<form onSubmit=${check}>
      <label class="field">Queue document
        <textarea name="document" rows="10" spellcheck="false" autocomplete="off" required></textarea></label>
      <p><button type="submit">Check</button> A check changes nothing.</p>
      <div role="status">${problem ? html`<${Note} kind="bad">${problem.message}</${Note}>` : verdictOf(verdict)}</div>
      ${verdict ? html`<h3>Difference</h3>${differenceOf(running, pasted)}` : null}
    </form>`;
  }
}

function verdictOf(verdict) {
  if (!verdict) return null;
  if (!verdict.allowed) return html`<${Note} kind="bad"><p><${State} kind="bad">Refused</${State}></p><pre>${verdict.reason}</pre></${Note}>`;
  return html`<${Note} kind="good"><p><${State} kind="good">Would be accepted</${State}>${verdict.checksumMatch ? ', and is in force already' : ''}</p>
    ${verdict.checksum ? html`<p>Checksum <code class="long">${verdict.checksum}</code></p>` : null}
    ${(verdict.warnings ?? []).map((each) => html`<p>${String(each)}</p>`)}</${Note}>`;
}

function differenceOf(running, pasted) {
  const found = differences(running, pasted);
  if (found.problem) return html`<p>${found.problem}</p>`;
  if (!found.rows.length) return html`<p>No queue, limit or rule differs.</p>`;
  return html`<div class="scroll" role="region" aria-label="Difference" tabindex="0"><table class="small">
    <thead><tr><th scope="col">Where</th><th scope="col">In force</th><th scope="col">Pasted</th></tr></thead>
    <tbody>${found.rows.map((row) => html`<tr><th scope="row"><bdi>${row.where}</bdi></th><td>${row.before ?? 'absent'}</td><td>${row.after ?? 'absent'}</td></tr>`)}</tbody>
  </table></div>`;
}
