// Applications over all queues, with filters by text, queue, user, namespace and state.

import { amounts, fromNanoseconds } from '../amounts.js';
import { ask, inPartition } from '../api.js';
import { html } from '../html.js';
import { AppLink, Choice, Filters, QueueLink, Search, State, Table, Ago, appStateKind, includes } from '../parts.js';

const LISTS = [['active', 'Live'], ['completed', 'Completed'], ['rejected', 'Rejected']];

export const title = () => 'Applications';

export async function load({ params, signal }) {
  const list = LISTS.some(([name]) => name === params.list) ? params.list : 'active';
  const apps = await ask(inPartition('applications', list), { signal });
  return { list, rows: apps.map(rowFrom) };
}

function rowFrom(app) {
  return {
    key: `${app.namespace ?? ''}/${app.applicationID}/${app.submissionTime ?? 0}`,
    id: app.applicationID,
    namespace: app.namespace ?? '',
    queue: app.queueName ?? '',
    user: app.user ?? '',
    state: app.applicationState ?? '',
    since: fromNanoseconds(app.submissionTime),
    used: app.usedResource ?? {},
    placed: (app.allocations ?? []).length,
    waiting: (app.requests ?? []).length,
    gang: gangOf(app),
    why: app.rejectedMessage || (app.requests ?? []).map((each) => each.allocationLog?.at(-1)?.message).find(Boolean) || '',
  };
}

// Placeholders of a gang that have a node or were replaced, of those that were made. None without a gang.
function gangOf({ placeholderData: groups = [], requests = [] }) {
  const made = groups.reduce((sum, each) => sum + (each.count ?? 0), 0);
  const waiting = requests.filter((each) => each.placeholder).length;
  return groups.length ? { placed: made - waiting, made } : null;
}

const remembered = { key: null, rows: [] };
const FILTERS = ['search', 'queue', 'user', 'namespace', 'state'];

function filtered(rows, params) {
  const key = [rows, ...FILTERS.map((name) => params[name])];
  if (remembered.key && key.every((each, at) => each === remembered.key[at])) return remembered.rows;
  const { search = '', queue = '', user = '', namespace = '', state = '' } = params;
  const fits = (row) =>
    (!state || row.state === state) && (!user || row.user === user) && (!namespace || row.namespace === namespace)
    && (!queue || row.queue === queue || row.queue.startsWith(`${queue}.`))
    && (!search || includes(`${row.id} ${row.user} ${row.queue} ${row.namespace}`, search));
  Object.assign(remembered, { key, rows: rows.filter(fits) });
  return remembered.rows;
}

const distinct = (rows, name) => [['', 'all'], ...[...new Set(rows.map((row) => row[name]))].filter(Boolean).sort().map((each) => [each, each])];

const CHOICES = 500;

// A choice while there are few; else a field for the name.
const Pick = ({ rows, name, label, params }) => {
  const options = distinct(rows, name);
  return options.length > CHOICES
    ? html`<${Search} name=${name} label=${label} value=${params[name]} />`
    : html`<${Choice} name=${name} label=${label} value=${params[name] ?? ''} options=${withPresent(options, params[name])} />`;
};

const withPresent = (options, value) => (!value || options.some(([each]) => each === value) ? options : [...options, [value, value]]);

export function Show({ data, params }) {
  const rows = filtered(data.rows, params);
  return html`<div>
    <${Filters}>
      <${Search} name="search" label="Search id, user, queue, namespace" value=${params.search} />
      <${Choice} name="list" label="List" value=${data.list} options=${LISTS} />
      ${['state', 'queue', 'user', 'namespace'].map((name) => html`<${Pick} rows=${data.rows} name=${name}
        label=${name[0].toUpperCase() + name.slice(1)} params=${params} />`)}
    </${Filters}>
    <p class="count">${rows.length} of ${data.rows.length} applications</p>
    <${Table} rows=${rows} columns=${COLUMNS} sort=${params.sort} keyOf=${(row) => row.key} label="Applications"
      empty=${data.rows.length ? 'No application matches these filters.' : 'There are no applications in this list.'} />
  </div>`;
}

const COLUMNS = [
  { key: 'id', label: 'Application', wide: 15, value: (row) => row.id, cell: (row) => html`<${AppLink} namespace=${row.namespace} id=${row.id} />` },
  { key: 'state', label: 'State', wide: 8, value: (row) => row.state, cell: (row) => html`<${State} kind=${appStateKind(row.state)}>${row.state}</${State}>` },
  { key: 'queue', label: 'Queue', wide: 14, value: (row) => row.queue, cell: (row) => html`<${QueueLink} path=${row.queue} />` },
  { key: 'user', label: 'User', wide: 9, value: (row) => row.user, cell: (row) => html`<bdi>${row.user || '–'}</bdi>` },
  { key: 'namespace', label: 'Namespace', wide: 9, value: (row) => row.namespace, cell: (row) => html`<bdi>${row.namespace || '–'}</bdi>` },
  { key: 'age', label: 'Age', wide: 5, value: (row) => -(row.since ?? 0), cell: (row) => html`<${Ago} at=${row.since} />` },
  { key: 'placed', label: 'Placed', number: true, wide: 5, value: (row) => row.placed, cell: (row) => row.placed },
  { key: 'waiting', label: 'Waiting', number: true, wide: 5, value: (row) => row.waiting, cell: (row) => row.waiting },
  { key: 'gang', label: 'Gang', number: true, wide: 5, value: (row) => (row.gang ? row.gang.placed - row.gang.made : 1),
    cell: (row) => (row.gang ? `${row.gang.placed} of ${row.gang.made}` : '–') },
  { key: 'used', label: 'Used', wide: 14, cell: (row) => amounts(row.used) },
  { key: 'why', label: 'Reason', wide: 22, cell: (row) => row.why || '–' },
];
