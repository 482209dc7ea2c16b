// The details beside the lanes: the run as a whole, or what was chosen: marks, a queue, a node, a pod.

const MOST = 60;

const panel = byId('panel');
const panelBody = byId('panel-body');

function showPanel(title, parts, isOverview) {
  const back = made('button', { class: 'plain', onclick: () => { showOverview(); panel.classList.remove('open'); } }, 'Close');
  const bar = made('div', { class: 'bar' }, made('h2', {}, title), isOverview ? made('span', { class: 'only-narrow' }, back) : back);
  panelBody.replaceChildren(bar, ...parts.filter(Boolean));
  panel.scrollTop = 0;
  if (!isOverview) panel.classList.add('open');
}

const section = (title, ...children) => (children.length ? made('section', {}, made('h3', {}, title), ...children) : null);
const podLink = (pod, label) => made('button', { class: 'link', onclick: () => showPod(pod) }, label || pod);
const spanText = (from, to) => (from === to ? `at ${timeText(from)}` : `${timeText(from)} to ${timeText(to)}`);

// What to read first: what differs, why pods wait, who was evicted.
function showOverview() {
  view.chosen = null;
  markChosen();
  showPanel('Overview', [
    section('Not as expected', ...data.differences.map(differenceItem)),
    section('Why pods were refused', ...reasonGauges('refused')),
    section('Evicted', ...evictionLinks()),
    section('Without a node', ...reasonGauges('waits')),
    section('Waiting at the end', ...waitingItems()),
    happenings.some((entry) => entry.mark && entry.mark !== 'change') ? null : made('p', { class: 'quiet' }, 'No pod was refused or evicted.'),
    made('p', { class: 'quiet' }, made('br', {}), 'Choose a mark, a queue, a node or a pod to see its story. Drag over the lanes to look closer; hold Ctrl and turn the wheel to zoom.'),
  ], true);
}

function differenceItem(each) {
  return made('div', { class: 'item' },
    made('div', { class: 'head' }, each.entry, made('span', { class: 'quiet' }, `${timeText(each.at)}, line ${each.line}`)),
    made('dl', { class: 'facts' }, made('dt', {}, 'expected'), made('dd', {}, each.expected), made('dt', {}, 'was'), made('dd', {}, each.actual)));
}

function reasonGauges(kind) {
  const groups = [...grouped(happenings.filter((entry) => entry.mark === kind), (entry) => entry.said)];
  const most = largest(groups.map(([, entries]) => entries.length));
  return groups.sort((one, other) => other[1].length - one[1].length).slice(0, 8).map(([, entries]) => gauge(kind, entries, most));
}

function gauge(kind, entries, most) {
  const fill = made('b', {});
  fill.style.width = `${(100 * entries.length) / most}%`;
  const pods = new Set(entries.map((entry) => entry.pod)).size;
  return made('button', { class: 'gauge', 'data-kind': kind, onclick: () => showMarks(entries) },
    made('span', {}, withoutKind(entries[0])), made('span', { class: 'quiet' }, counted(pods, 'pod')), made('i', {}, fill));
}

function evictionLinks() {
  const entries = happenings.filter((entry) => entry.mark === 'evicted');
  const lines = entries.slice(0, 6).map((entry) => made('p', {}, podLink(entry.pod), ` ${entry.said}, ${timeText(entry.at)}`));
  if (entries.length > 6) lines.push(made('button', { class: 'link', onclick: () => showMarks(entries) }, `all ${entries.length.toLocaleString('en')}`));
  return lines;
}

function waitingItems() {
  const waiting = Object.keys(data.pods).map((name) => ({ name, ...podState(name) }))
    .filter((pod) => pod.gone === null && !pod.node && pod.phase === 'Pending');
  const groups = [...grouped(waiting, (pod) => `${pod.queue}\n${pod.message || pod.reason}`).values()];
  return groups.sort((one, other) => other.length - one.length).slice(0, 6).map((pods) => made('div', { class: 'item' },
    made('div', { class: 'head' }, pods[0].queue || 'no queue', made('span', { class: 'quiet' }, counted(pods.length, 'pod'))),
    made('p', {}, pods[0].message || pods[0].reason || 'not tried yet'), podLinks(pods.map((pod) => pod.name))));
}

function podLinks(pods) {
  const names = foldedNames(pods);
  const links = names.slice(0, MOST).map(({ label, pods: some }) => (some.length === 1 ? podLink(some[0]) : folder(label, some)));
  if (names.length > MOST) links.push(made('span', { class: 'quiet' }, `and ${(names.length - MOST).toLocaleString('en')} more`));
  return made('div', { class: 'pods' }, ...links);
}

// A range of pods that opens into its members.
function folder(label, pods) {
  const button = made('button', { class: 'link', onclick: () => button.replaceWith(...pods.slice(0, 400).map((pod) => podLink(pod))) }, label);
  return button;
}

// Happenings by reason. `entries` in the order of time.
function showMarks(entries) {
  const kinds = KINDS.filter(({ kind }) => entries.some((entry) => entry.mark === kind));
  const title = kinds.map(({ kind, one, many }) => counted(entries.filter((entry) => entry.mark === kind).length, one, many)).join(', ');
  const groups = [...grouped(entries, (entry) => `${entry.mark}\n${entry.queue}\n${entry.said}`).values()];
  const items = groups.slice(0, MOST).map(reasonItem);
  if (groups.length > MOST) items.push(made('p', { class: 'quiet' }, `and ${counted(groups.length - MOST, 'other reason')}; zoom in to see them`));
  showPanel(title, [made('p', { class: 'quiet' }, spanText(entries[0].at, entries[entries.length - 1].at)), ...items]);
}

function reasonItem(entries) {
  const [first] = entries;
  const when = first.at === entries[entries.length - 1].at ? timeText(first.at) : `${timeText(first.at)} \u2013 ${timeText(entries[entries.length - 1].at)}`;
  const pods = entries.map((entry) => entry.pod).filter(Boolean);
  return made('div', { class: 'item' },
    made('div', { class: 'head' }, glyph(first.mark), first.code || first.kind, made('span', { class: 'quiet' }, when)),
    made('p', { class: 'why' }, withoutKind(first)),
    first.queue ? made('p', { class: 'quiet' }, first.queue) : null,
    pods.length ? podLinks(pods) : null);
}

function storyOf(entries) {
  const rows = entries.slice(-300).map((entry) => made('li', {}, made('span', { class: 'quiet' }, timeText(entry.at)), made('span', {}, entry.pod && `${entry.pod} `, entry.said)));
  return section('Story', made('ul', { class: 'story' }, ...rows));
}

function facts(pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '').flatMap(([name, value]) => [made('dt', {}, name), made('dd', {}, value)]);
  return made('dl', { class: 'facts' }, ...rows);
}

const withoutKind = ({ kind, said }) => (said.startsWith(`${kind}: `) ? said.slice(kind.length + 2) : said);
const timeOrNull = (t) => (t === null || t === undefined ? null : timeText(t));

function showPod(name) {
  const state = podState(name) || {};
  const story = (byPod.get(name) || []).map((entry) => ({ ...entry, pod: '' }));
  showPanel(name, [
    facts([['queue', state.queue], ['node', state.node], ['phase', state.phase], ['reason', state.reason], ['created', timeOrNull(state.created)], ['bound', timeOrNull(state.bound)], ['gone', timeOrNull(state.gone)]]),
    state.message ? made('p', {}, state.message) : null,
    storyOf(story),
  ]);
}

function showQueue(queue) {
  const amounts = data.resources.map(({ name, unit }) => amountsLine(queue, name, unit)).filter(Boolean);
  const marks = marksBelow(queue);
  const groups = [...grouped(marks, (entry) => `${entry.mark}\n${entry.queue}\n${entry.said}`).values()];
  showPanel(queue.path, [
    facts([['made', timeText(queue.start)], ['removed', timeOrNull(queue.removed)], ['state', queue.draining ? 'draining' : '']]),
    section(`At ${timeText(readAt())}`, ...amounts),
    section('Refused and evicted', ...groups.sort((one, other) => other.length - one.length).slice(0, 20).map(reasonItem)),
    marks.length ? null : made('p', { class: 'quiet' }, 'No pod was refused or evicted here.'),
  ]);
}

function amountsLine(queue, resource, unit) {
  const state = stateAt(queue, resource, readAt());
  if (!state || !(state.used || state.pending || state.max !== null || state.guaranteed)) return null;
  const parts = [['used', state.used], ['guaranteed', state.guaranteed], ['max', state.max], ['pending', state.pending || null]];
  const words = parts.filter(([, amount]) => amount !== null).map(([name, amount]) => `${name} ${amountText(amount, unit)}`);
  return made('p', {}, made('strong', {}, resource), ` ${words.join(', ')}`);
}

function showNode(node) {
  const t = readAt();
  const here = node.stays.filter((stay) => isThere(stay, t));
  const amounts = Object.keys(node.allocatable).map((name) => {
    const unit = (data.resources.find((each) => each.name === name) || { unit: 'count' }).unit;
    const used = here.reduce((sum, stay) => sum + sizeOf(stay, name), 0);
    return [name, `${amountText(used, unit)} of ${amountText(node.allocatable[name], unit)}`];
  });
  const groups = [...grouped(here, (stay) => stay.queue)].map(([path, stays]) => made('div', { class: 'item' },
    made('div', { class: 'head' }, swatch(path), path || 'not managed', made('span', { class: 'quiet' }, counted(stays.length, 'pod'))), podLinks(stays.map((stay) => stay.pod))));
  showPanel(node.name, [
    facts([...amounts, ['since', node.start > 0 ? timeText(node.start) : null], ['removed', timeOrNull(node.end)]]),
    section(`Pods at ${timeText(t)}`, ...groups),
    groups.length ? null : made('p', { class: 'quiet' }, `No pods at ${timeText(t)}.`),
  ]);
}
