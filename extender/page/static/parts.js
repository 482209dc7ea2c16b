// Parts that views are made of: links, bars, facts, tables of which only the rows in sight exist.

import { amount, amounts, moment, share, span } from './amounts.js';
import { serverNow } from './api.js';
import { Component, html } from './html.js';
import { address, setParams } from './route.js';

// -- links and words ------------------------------------------------------------------------------------------

export const Link = ({ view, names, params, children }) => html`<a href=${address(view, names, params)}>${children}</a>`;

export const QueueLink = ({ path }) =>
  path ? html`<${Link} view="queue" names=${[path]}><bdi>${path}</bdi></${Link}>` : html`<span>no queue</span>`;

export const AppLink = ({ namespace, id }) =>
  html`<${Link} view="application" names=${[namespace ?? '', id]}><bdi>${id}</bdi></${Link}>`;

export const PodLink = ({ namespace, name }) =>
  html`<${Link} view="why" names=${[namespace, name]}><bdi>${namespace}/${name}</bdi></${Link}>`;

export const NodeLink = ({ name }) => (name ? html`<${Link} view="node" names=${[name]}><bdi>${name}</bdi></${Link}>` : '–');

// A state in words, with a mark whose shape says the same as its colour.
const MARKS = { good: '●', bad: '▲', waits: '◆', idle: '○' };

export const State = ({ kind, children }) =>
  html`<span class="state ${kind}"><span class="mark" aria-hidden="true">${MARKS[kind]}</span>${children}</span>`;

export const appStateKind = (state) =>
  ({ Running: 'good', Completing: 'good', Completed: 'idle', Rejected: 'bad', Failing: 'bad', Failed: 'bad' })[state] ?? 'waits';

export const Note = ({ kind = 'plain', children }) => html`<div class="note ${kind}">${children}</div>`;

export const Missing = ({ problem, what }) =>
  html`<${Note} kind="bad">${what}: ${problem.kind === 'forbidden' ? 'your token may not read this' : problem.message}.</${Note}>`;

export const Facts = ({ rows }) =>
  html`<dl class="facts">${rows.filter(Boolean).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

// -- times ----------------------------------------------------------------------------------------------------

export const Time = ({ at, local }) =>
  html`<time dateTime=${Number.isFinite(at) && at !== null ? new Date(at).toISOString() : ''}>${moment(at, local)}</time>`;

// How long ago something was. Redraws itself, and nothing else.
export class Ago extends Component {
  componentDidMount() {
    this.timer = setInterval(() => this.setState({}), 1000);
  }

  componentWillUnmount() {
    clearInterval(this.timer);
  }

  render({ at, now = serverNow }) {
    return at ? html`<span>${span(now() - at)}</span>` : html`<span>–</span>`;
  }
}

// -- amounts --------------------------------------------------------------------------------------------------

export const Amounts = ({ values }) => html`<span>${amounts(values)}</span>`;

const width = (part) => ({ width: `${(part * 100).toFixed(2)}%` });
const left = (part) => ({ left: `${(part * 100).toFixed(2)}%` });

// Used against max, with a mark where the guarantee ends. The numbers beside it say the same.
export function Bar({ resource, used = 0, guaranteed, max }) {
  if (max === undefined && !guaranteed) return html`<span class="quiet">no max</span>`;
  const whole = Math.max(max ?? 0, used, guaranteed ?? 0);
  const full = max !== undefined && used >= max;
  const text = `${amount(resource, used)} used of ${max === undefined ? 'no max' : amount(resource, max)}`;
  return html`<span class="bar ${full ? 'full' : ''}" role="img" aria-label=${text}>
    <span class="used" style=${width(share(used, whole))}></span>
    ${guaranteed ? html`<span class="guaranteed" style=${left(share(guaranteed, whole))}></span>` : null}
  </span>`;
}

// -- tables ---------------------------------------------------------------------------------------------------

const ALL_AT_ONCE = 80;
const BEYOND = 12;

const sortedBy = (rows, column, down) => {
  const sign = down ? -1 : 1;
  const keyed = rows.map((row, index) => [column.value(row) ?? '', index, row]);
  keyed.sort(([one, first], [other, second]) => (one < other ? -sign : one > other ? sign : first - second));
  return keyed.map(([, , row]) => row);
};

// rows: all of them; columns: {key, label, cell(row), value(row), number, wide}; sort: KEY or -KEY.
// Rows have one height, so that only those in sight and a few beyond exist.
export class Table extends Component {
  constructor(props) {
    super(props);
    this.state = { top: 0, height: 800, row: 34 };
    this.box = null;
    this.measured = () => {
      const row = this.box?.querySelector('tbody tr[aria-rowindex]');
      this.setState({
        top: this.box?.scrollTop ?? 0,
        height: this.box?.clientHeight || 800,
        row: row?.offsetHeight || 34,
      });
    };
    this.scrolled = () => this.setState({ top: this.box.scrollTop });
  }

  componentDidMount() {
    this.measured();
    addEventListener('resize', this.measured);
  }

  componentWillUnmount() {
    removeEventListener('resize', this.measured);
  }

  ordered() {
    const { rows, columns, sort = '' } = this.props;
    if (this.rows === rows && this.sort === sort && this.known) return this.known;
    const column = columns.find((each) => each.value && each.key === sort.replace(/^-/, ''));
    this.rows = rows;
    this.sort = sort;
    this.known = column ? sortedBy(rows, column, sort.startsWith('-')) : rows;
    return this.known;
  }

  render({ columns, label, empty, keyOf, sort = '' }, { top, height, row }) {
    const rows = this.ordered();
    if (!rows.length) return html`<p class="empty">${empty}</p>`;
    const virtual = rows.length > ALL_AT_ONCE;
    const first = virtual ? Math.max(0, Math.floor(top / row) - BEYOND) : 0;
    const last = virtual ? Math.min(rows.length, Math.ceil((top + height) / row) + BEYOND) : rows.length;
    return html`<div class="scroll ${virtual ? 'tall' : ''}" role="region" aria-label=${label} tabindex="0"
        ref=${(box) => { this.box = box; }} onScroll=${virtual ? this.scrolled : undefined}>
      <table aria-rowcount=${rows.length + 1}>
        <caption class="unseen">${label}</caption>
        <colgroup>${columns.map((each) => html`<col style=${{ width: `min(${each.wide ?? 8}rem, 50vw)` }} />`)}</colgroup>
        <thead><tr aria-rowindex="1">${columns.map((each) => headOf(each, sort))}</tr></thead>
        <tbody>
          ${gap(first * row, columns.length)}
          ${rows.slice(first, last).map((each, at) => rowOf(each, first + at, columns, keyOf))}
          ${gap((rows.length - last) * row, columns.length)}
        </tbody>
      </table>
    </div>`;
  }
}

const gap = (height, across) =>
  height > 0 ? html`<tr aria-hidden="true" class="gap"><td colspan=${across} style=${{ height: `${height}px` }}></td></tr>` : null;

function rowOf(row, at, columns, keyOf) {
  return html`<tr key=${keyOf(row)} aria-rowindex=${at + 2}>
    ${columns.map((each, place) =>
      place === 0
        ? html`<th scope="row">${each.cell(row)}</th>`
        : html`<td class=${each.number ? 'number' : ''}>${each.cell(row)}</td>`)}
  </tr>`;
}

function headOf(column, sort) {
  const kind = column.number ? 'number' : '';
  if (!column.value) return html`<th scope="col" class=${kind}>${column.label}</th>`;
  const down = sort === `-${column.key}`;
  const order = down ? 'descending' : sort === column.key ? 'ascending' : 'none';
  const next = sort === column.key ? `-${column.key}` : column.key;
  return html`<th scope="col" class=${kind} aria-sort=${order}>
    <button type="button" class="sort" onClick=${() => setParams({ sort: next })}>${column.label}
      <span aria-hidden="true">${{ descending: ' ▾', ascending: ' ▴', none: '' }[order]}</span></button>
  </th>`;
}

// -- filters --------------------------------------------------------------------------------------------------

export const Search = ({ name, label, value = '' }) =>
  html`<label class="field">${label}
    <input type="search" value=${value} autocomplete="off" spellcheck="false"
      onInput=${(event) => setParams({ [name]: event.currentTarget.value })} /></label>`;

export const Choice = ({ name, label, value = '', options }) =>
  html`<label class="field">${label}
    <select value=${value} onChange=${(event) => setParams({ [name]: event.currentTarget.value })}>
      ${options.map(([key, shown]) => html`<option value=${key} selected=${key === value}>${shown}</option>`)}
    </select></label>`;

export const Filters = ({ children }) => html`<form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>${children}</form>`;

export const includes = (text, wanted) => text.toLowerCase().includes(wanted.toLowerCase());
