// What was recorded, and questions about it. Nothing here draws or touches the page.
//
// The data: texts (told once, others refer by number) and sizes; queues in tree order, whose usage and bounds
// hold columns per resource: [times, used, pending] and [times, guaranteed, max]; nodes with stays
// [pod, queue, size, start, end]; happenings as columns; pods by name.

window.addEventListener('error', (event) => { document.documentElement.dataset.errors += event.message + '\n'; });

const data = JSON.parse(document.getElementById('recording').textContent);
const text = (number) => data.texts[number];
const KINDS = [
  { kind: 'evicted', one: 'eviction', many: 'evictions' },
  { kind: 'failed', one: 'failure', many: 'failures' },
  { kind: 'refused', one: 'refusal', many: 'refusals' },
  { kind: 'waits', one: 'without a node', many: 'without a node' },
  { kind: 'change', one: 'change', many: 'changes' },
];
const MARK_OF = { evicted: 'evicted', failed: 'failed', error: 'failed', refused: 'refused', waits: 'waits', config: 'change', settings: 'change', restart: 'change', node: 'change' };
const POD_FIELDS = ['queue', 'node', 'phase', 'reason', 'message', 'created', 'bound', 'gone'];
const NUMBER_FIELDS = new Set(['created', 'bound', 'gone']);

const happenings = data.happenings.at.map((at, index) => ({
  index, at,
  kind: text(data.happenings.kind[index]),
  pod: text(data.happenings.pod[index]),
  queue: text(data.happenings.queue[index]),
  node: text(data.happenings.node[index]),
  code: text(data.happenings.code[index]),
  said: text(data.happenings.said[index]),
}));
for (const entry of happenings) entry.mark = MARK_OF[entry.kind];

function grouped(list, keyOf) {
  const groups = new Map();
  for (const each of list) {
    const key = keyOf(each);
    if (groups.has(key)) groups.get(key).push(each); else groups.set(key, [each]);
  }
  return groups;
}

const byPod = grouped(happenings, (entry) => entry.pod);

function podState(name) {
  const values = own(data.pods, name, null);
  if (!values) return null;
  return Object.fromEntries(POD_FIELDS.map((field, place) => [
    field, NUMBER_FIELDS.has(field) || values[place] === null ? values[place] : text(values[place]),
  ]));
}

// -- queues ---------------------------------------------------------------------------------------------------

const queues = data.queues.map((queue, index) => ({ ...queue, index, last: index, children: 0, parent: null, marks: [] }));
const queueAt = new Map(queues.map((queue) => [queue.path, queue]));

function parentOf(queue) {
  let path = queue.path;
  while (path.includes('.')) {
    path = path.slice(0, path.lastIndexOf('.'));
    if (queueAt.has(path)) return queueAt.get(path);
  }
  return null;
}

for (const queue of queues) {
  queue.parent = parentOf(queue);
  queue.depth = queue.parent ? queue.parent.depth + 1 : 0;
  queue.label = queue.parent ? queue.path.slice(queue.parent.path.length + 1) : queue.path;
  if (queue.parent) queue.parent.children += 1;
  for (let above = queue.parent; above; above = above.parent) above.last = queue.index;
}

const clusterMarks = [];
for (const entry of happenings) {
  if (!entry.mark) continue;
  const queue = entry.mark === 'change' ? null : queueAt.get(entry.queue);
  (queue ? queue.marks : clusterMarks).push(entry);
}

// Marks of a queue and of all below it, by time.
function marksBelow(queue) {
  const found = queues.slice(queue.index, queue.last + 1).flatMap((each) => each.marks);
  return found.sort((one, other) => one.index - other.index);
}

// -- amounts over time ----------------------------------------------------------------------------------------

// The place of the last time that is not after t, -1 when all are.
function placeAt(times, t) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

const NO_STEPS = [[], [], []];
// A resource may have the name of something that every object inherits.
const own = (object, name, otherwise) => (Object.hasOwn(object, name) ? object[name] : otherwise);
const usageOf = (queue, resource) => own(queue.usage, resource, NO_STEPS);
const boundsOf = (queue, resource) => own(queue.bounds, resource, NO_STEPS);

function stateAt(queue, resource, t) {
  if (t < queue.start || (queue.removed !== null && t >= queue.removed)) return null;
  const usage = usageOf(queue, resource);
  const bounds = boundsOf(queue, resource);
  const used = placeAt(usage[0], t);
  const bound = placeAt(bounds[0], t);
  return {
    used: used < 0 ? 0 : usage[1][used], pending: used < 0 ? 0 : usage[2][used],
    guaranteed: bound < 0 ? null : bounds[1][bound], max: bound < 0 ? null : bounds[2][bound],
  };
}

const largest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);

const peaks = new Map();

function peaksOf(queue, resource) {
  const key = `${queue.index} ${resource}`;
  if (!peaks.has(key)) peaks.set(key, measuredPeaks(queue, resource));
  return peaks.get(key);
}

function measuredPeaks(queue, resource) {
  const [, used, pending] = usageOf(queue, resource);
  const [, guaranteed, max] = boundsOf(queue, resource);
  const asked = used.map((amount, place) => amount + pending[place]);
  return { used: largest(used), asked: largest(asked), guaranteed: largest(guaranteed), max: largest(max) };
}

// -- nodes ----------------------------------------------------------------------------------------------------

const nodes = data.nodes.map((node, index) => ({
  ...node, index, blocks: new Map(),
  stays: node.stays.map(([pod, queue, size, start, end]) => ({ pod: text(pod), queue: text(queue), size: data.sizes[size], start, end })),
}));
const nodeNamed = new Map(nodes.map((node) => [node.name, node]));
const sizeOf = (stay, resource) => (resource === 'pods' ? 1 : own(stay.size, resource, 0));
const isThere = (stay, t) => stay.start <= t && (stay.end === null || stay.end > t);

// The stays of a node as blocks whose heights are amounts, none over another: a stay takes the lowest free
// room, in pieces when it must, so that the height filled at any time is the amount used.
function blocksOf(node, resource) {
  if (!node.blocks.has(resource)) node.blocks.set(resource, stacked(node.stays, resource));
  return node.blocks.get(resource);
}

function stacked(stays, resource) {
  const found = [];
  let active = [];
  for (const stay of stays) {
    const amount = sizeOf(stay, resource);
    if (amount <= 0) continue;
    active = active.filter((block) => isThere(block.stay, stay.start));
    active.sort((one, other) => one.low - other.low);
    for (const [low, high] of freeRoom(active, amount)) {
      const block = { stay, low, high };
      found.push(block);
      active.push(block);
    }
  }
  return { blocks: found, peak: largest(found.map((block) => block.high)), usage: usageOfNode(stays, resource) };
}

// What a node's pods use, as columns: [times, used, zeros].
function usageOfNode(stays, resource) {
  const changes = new Map();
  const add = (t, amount) => changes.set(t, (changes.get(t) || 0) + amount);
  for (const stay of stays) {
    add(stay.start, sizeOf(stay, resource));
    if (stay.end !== null) add(stay.end, -sizeOf(stay, resource));
  }
  const times = [...changes.keys()].sort((one, other) => one - other);
  let sum = 0;
  return [times, times.map((t) => { sum += changes.get(t); return sum; }), times.map(() => 0)];
}

// The lowest room for an amount between blocks in order: one piece where a gap is wide enough, else several.
function freeRoom(active, amount) {
  const gaps = [];
  let floor = 0;
  for (const block of active) {
    if (block.low > floor) gaps.push([floor, block.low]);
    floor = Math.max(floor, block.high);
  }
  const whole = gaps.find(([low, high]) => high - low >= amount);
  if (whole) return [[whole[0], whole[0] + amount]];
  const pieces = [];
  for (const [low, high] of gaps) {
    const taken = Math.min(amount, high - low);
    pieces.push([low, low + taken]);
    amount -= taken;
    if (!amount) return pieces;
  }
  return [...pieces, [floor, floor + amount]];
}

// -- names ----------------------------------------------------------------------------------------------------

// Pods of one name and many numbers as one: [{label, pods}].
function foldedNames(pods) {
  const unique = [...new Set(pods)];
  const groups = grouped(unique, (pod) => pod.replace(/-[0-9.]+$/, ''));
  return [...groups.values()].flatMap((group) => (group.length < 4 ? group.map((pod) => ({ label: pod, pods: [pod] })) : [folded(group)]));
}

function folded(group) {
  const number = (pod) => parseFloat(pod.slice(pod.lastIndexOf('-') + 1));
  const inOrder = [...group].sort((one, other) => number(one) - number(other));
  return { label: `${inOrder[0]} \u2026 ${inOrder[inOrder.length - 1]} (${counted(group.length, 'pod')})`, pods: inOrder };
}

const counted = (number, one, many) => `${number.toLocaleString('en')} ${number === 1 ? one : many || one + 's'}`;
