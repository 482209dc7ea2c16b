// Events as they come, the newest first, with filters and a pause.

import { amounts, fromNanoseconds } from '../amounts.js';
import { html } from '../html.js';
import { Choice, Filters, Link, NodeLink, QueueLink, Search, Table, Time, includes } from '../parts.js';

export const title = () => 'Events';

// Nothing is loaded: the event stream brings everything.
export const still = true;
export const load = async () => ({});

const TYPES = { 1: 'pod', 2: 'application', 3: 'node', 4: 'queue', 5: 'user or group' };
const CHANGES = { 1: 'set', 2: 'added', 3: 'removed' };
const DETAILS = {
  100: 'request cancelled', 102: 'request timed out', 200: 'allocation', 201: 'request', 202: 'rejected', 203: 'new', 204: 'accepted',
  205: 'starting', 206: 'running', 207: 'completing', 208: 'completed', 209: 'failing', 210: 'failed', 211: 'resuming', 212: 'expired',
  213: 'held back by the queue', 214: 'free of the queue’s limit', 215: 'held back by the user', 216: 'free of the user’s limit',
  300: 'decommissioned', 302: 'schedulable', 303: 'allocation', 304: 'capacity', 305: 'occupied', 306: 'reserved for a pod',
  401: 'dynamic queue', 402: 'type', 403: 'max', 404: 'guaranteed', 405: 'application', 500: 'cancelled', 501: 'preempted',
  502: 'placeholder timed out', 503: 'placeholder replaced', 504: 'node removed',
};

const what = (each) => [DETAILS[each.eventChangeDetail], CHANGES[each.eventChangeType]].filter(Boolean).join(', ') || 'note';
const remembered = { key: null, rows: [] };

function rowsOf(heard, { search = '', type = '' }) {
  const key = [heard, search, type];
  if (remembered.key && key.every((each, at) => each === remembered.key[at])) return remembered.rows;
  const fits = (each) => (!type || String(each.type) === type)
    && (!search || includes(`${each.objectID ?? ''} ${each.referenceID ?? ''} ${each.message ?? ''} ${what(each)}`, search));
  const rows = heard.map((each, at) => ({ ...each, at })).filter(fits).reverse();
  Object.assign(remembered, { key, rows });
  return rows;
}

export function Show({ params, local, heard, paused, actions }) {
  const rows = rowsOf(heard, params);
  return html`<div>
    <${Filters}>
      <${Search} name="search" label="Search events" value=${params.search} />
      <${Choice} name="type" label="About" value=${params.type ?? ''} options=${[['', 'all'], ...Object.entries(TYPES)]} />
      <button type="button" aria-pressed=${String(paused)} onClick=${actions.togglePause}>Pause</button>
    </${Filters}>
    <p class="count">${rows.length} of the latest ${heard.length} events${paused ? ', paused' : ''}</p>
    <${Table} rows=${rows} label="Events, the newest first" keyOf=${(row) => row.at} empty=${heard.length ? 'No event matches these filters.' : 'No events yet.'} columns=${[
      { key: 'at', label: 'Time', wide: 11, cell: (row) => html`<${Time} at=${fromNanoseconds(row.timestampNano)} local=${local} />` },
      { key: 'object', label: 'Object', wide: 18, cell: (row) => html`${TYPES[row.type] ?? 'object'} ${objectOf(row)}` },
      { key: 'what', label: 'What', wide: 15, cell: (row) => [what(row), amountsOf(row)].filter(Boolean).join(': ') },
      { key: 'message', label: 'Message', wide: 24, cell: (row) => html`<span title=${row.message}>${row.message || '–'}</span>` },
      { key: 'other', label: 'Other object', wide: 12, cell: (row) => html`<bdi>${row.referenceID || '–'}</bdi>` },
    ]} />
  </div>`;
}

function objectOf({ type, objectID: id = '' }) {
  if (type === 2) return html`<${Link} view="applications" params=${{ search: id }}><bdi>${id}</bdi></${Link}>`;
  if (type === 3) return html`<${NodeLink} name=${id} />`;
  if (type === 4) return html`<${QueueLink} path=${id} />`;
  return html`<bdi>${id}</bdi>`;
}

function amountsOf({ resource }) {
  const values = Object.entries(resource?.resources ?? {}).map(([name, { value = 0 }]) => [name, value]);
  return values.length ? amounts(Object.fromEntries(values)) : '';
}
