// The page: it reads the view from its address, asks for the view's data, and reloads it after events.

import { attempt, hasToken, Problem, setToken } from './api.js';
import { html, render } from './html.js';
import { Live } from './live.js';
import { routeOf } from './route.js';
import { Shell } from './shell.js';
import { VIEWS } from './views/views.js';

const SOONEST = 2000;
const AT_LEAST_EVERY = 10000;

const state = {
  route: routeOf(location.hash),
  shown: null,
  data: null,
  at: null,
  problem: null,
  loading: true,
  mode: 'off',
  local: false,
  paused: false,
  heard: [],
};

const live = new Live(() => heard(), (mode) => change({ mode }));

let drawing = false;
let asking = null;
let timer = null;
let lasted = 0;

function change(changes) {
  Object.assign(state, changes);
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(draw);
}

function draw() {
  drawing = false;
  const view = VIEWS[state.route.view] ?? VIEWS.missing;
  try {
    show(view);
  } catch (error) {
    // What is half drawn cannot be changed any more, so the page begins anew and says what is wrong.
    console.error(error);
    render(null, document.getElementById('page'));
    Object.assign(state, { data: null, at: null, problem: new Problem('failed', String(error.message), '') });
    show(view);
  }
  document.documentElement.dataset.ready = state.shown === null ? '' : state.shown;
}

const show = (view) =>
  render(html`<${Shell} state=${state} view=${view} actions=${actions} />`, document.getElementById('page'));

const actions = {
  logIn(token) {
    setToken(token);
    load();
  },
  toggleLocal: () => change({ local: !state.local }),
  togglePause: () => change({ paused: !state.paused, heard: live.events }),
  again: () => load(),
};

// -- data -----------------------------------------------------------------------------------------------------

// What is asked for: the view, the names in its address, and the list, time or subject that it shows.
const nameOf = ({ view, names, params }) => [view, ...names, params.list ?? params.span ?? params.of ?? ''].join('/');

async function load() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const route = state.route;
  const view = VIEWS[route.view] ?? VIEWS.missing;
  const started = performance.now();
  clearTimeout(timer);
  change({ loading: true });
  try {
    const data = await view.load({ names: route.names, params: route.params, signal, attempt });
    if (signal.aborted) return;
    lasted = performance.now() - started;
    change({ data, shown: nameOf(route), at: Date.now(), problem: null, loading: false });
    live.start();
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) console.error(error);
    const problem = error instanceof Problem ? error : new Problem('failed', String(error.message), '');
    if (problem.kind === 'login') {
      if (hasToken()) problem.message = 'the token was not accepted';
      live.stop();
    }
    change({ problem, shown: nameOf(route), loading: false, ...(state.shown === nameOf(route) ? {} : { data: null, at: null }) });
  }
  plan(AT_LEAST_EVERY);
}

// Load again, but never so often that loading is most of what the page does.
function plan(within) {
  clearTimeout(timer);
  if (document.hidden || state.problem?.kind === 'login') return;
  timer = setTimeout(load, Math.max(within, 5 * lasted));
}

let soon = null;

function heard() {
  if (!state.paused) change({ heard: live.events });
  const view = VIEWS[state.route.view] ?? VIEWS.missing;
  if (soon !== null || view.still || state.loading || document.hidden) return;
  soon = setTimeout(() => {
    soon = null;
    if (!state.loading) load();
  }, Math.max(SOONEST, 5 * lasted));
}

// -- movement -------------------------------------------------------------------------------------------------

const placeOf = ({ view, names }) => [view, ...names].join('/');

function moved() {
  const before = state.route;
  const route = routeOf(location.hash);
  change({ route });
  if (nameOf(route) === nameOf(before)) return;
  load();
  if (placeOf(route) === placeOf(before)) return;
  change({ data: null, at: null, problem: null, shown: null, heard: live.events });
  scrollTo(0, 0);
  requestAnimationFrame(() => document.querySelector('h1')?.focus({ preventScroll: true }));
}

function shown() {
  if (document.hidden) {
    clearTimeout(timer);
    live.stop();
  } else {
    load();
  }
}

addEventListener('hashchange', moved);
document.addEventListener('visibilitychange', shown);
draw();
load();
