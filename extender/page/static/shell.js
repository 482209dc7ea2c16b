// Frame of every view: navigation, age of the data, token field, and problems.

import { hasToken } from './api.js';
import { Component, html } from './html.js';
import { Ago, Link, Note } from './parts.js';
import { NAVIGATION } from './views/views.js';

const MODES = {
  stream: 'live',
  polling: 'polled every 10 s, since no event stream is open',
  off: 'not live',
};

export function Shell({ state, view, actions }) {
  const title = view.title(state.route.names, state.route.params);
  document.title = `${title} – Paddock`;
  return html`<div>
    <a class="skip" href="#content" onClick=${skip}>Skip to content</a>
    <header>
      <p class="brand"><${Link} view="overview">Paddock</${Link}></p>
      <nav aria-label="Views"><ul>${NAVIGATION.map(([name, label, also]) => entry(name, label, also, state.route.view))}</ul></nav>
    </header>
    <main id="content" tabindex="-1">
      <div class="heading">
        <h1 tabindex="-1">${title}</h1>
        <p class="age">${ageOf(state)}
          <button type="button" class="plain" aria-pressed=${String(state.local)} onClick=${actions.toggleLocal}>Local time</button>
        </p>
      </div>
      <div role="status" class="unseen">${statusOf(state, title)}</div>
      ${problemOf(state, actions)}
      ${state.data === null ? (state.problem ? null : html`<p class="empty">Loading…</p>`) : html`<${view.Show}
        data=${state.data} names=${state.route.names} params=${state.route.params} local=${state.local}
        heard=${state.heard} paused=${state.paused} actions=${actions} />`}
    </main>
    <footer><p>Read only. The same answers are at <code>ws/v1</code>, <code>debug</code> and <code>metrics</code>.</p></footer>
  </div>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById('content').focus();
}

const entry = (name, label, also, present) =>
  html`<li><a href=${`#/${name}`} aria-current=${present === name || also.includes(present) ? 'page' : undefined}>${label}</a></li>`;

const ageOf = ({ at, mode, loading }) =>
  at === null
    ? html`<span>${loading ? 'asking' : 'no data'}</span>`
    : html`<span>data <${Ago} at=${at} now=${Date.now} /> old, ${MODES[mode]}</span>`;

// Said by a screen reader: only what changes when a view is entered, or when there is a problem.
function statusOf(state, title) {
  if (state.problem) return titles[state.problem.kind] ?? titles.failed;
  return state.data === null ? '' : `${title} is shown`;
}

// -- problems -------------------------------------------------------------------------------------------------

const titles = {
  unreachable: 'Paddock does not answer',
  unready: 'Paddock is not ready',
  login: 'A token is needed',
  forbidden: 'The token may not read this',
  missing: 'Not found',
  busy: 'Paddock is busy',
  failed: 'Something went wrong',
};

function problemOf({ problem, data }, actions) {
  if (!problem) return null;
  if (problem.kind === 'login') return html`<${Login} problem=${problem} onToken=${actions.logIn} />`;
  return html`<${Note} kind="bad">
    <h2>${titles[problem.kind] ?? titles.failed}</h2>
    <p>${problem.message}${problem.path ? html` (<code>${problem.path}</code>)` : null}</p>
    ${data === null ? null : html`<p>The data below is older.</p>`}
    ${problem.kind === 'forbidden' && hasToken() ? html`<${Login} problem=${problem} onToken=${actions.logIn} />` : null}
    <p><button type="button" onClick=${actions.again}>Try again</button></p>
  </${Note}>`;
}

class Login extends Component {
  render({ problem, onToken }) {
    const send = (event) => {
      event.preventDefault();
      const field = event.currentTarget.elements.namedItem('token');
      onToken(field.value);
      field.value = '';
    };
    return html`<form class="login" onSubmit=${send} autocomplete="off">
      <h2>Token</h2>
      <p>This port asks who you are: ${problem.message}. Create a token with <code>kubectl create token NAME --audience=paddock</code>.</p>
      <label class="field">Token
        <input name="token" type="password" required autocomplete="off" spellcheck="false" /></label>
      <button type="submit">Use it</button>
      <p class="quiet">It stays in the memory of this page. Reloading forgets it.</p>
    </form>`;
  }
}
