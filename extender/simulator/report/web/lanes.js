// The lanes as elements: made once each, drawn when in view and when something about them has changed.

const DRAWN_AT_ONCE = 40;
const OPEN_AT_MOST = 60;
const ROOMY_AT_MOST = 8;

const lanes = [];
const inView = new Set();

function makeLane(kind, attributes, gutter, parts) {
  const canvas = made('canvas', { 'aria-hidden': 'true' });
  const marks = made('div', { class: 'marks' });
  const plot = made('div', { class: 'plot' }, canvas, marks);
  const readout = made('p', { class: 'readout' });
  const element = made('article', { class: `lane ${kind}`, ...attributes }, made('header', { class: 'gutter' }, ...gutter, readout), plot);
  const lane = { kind, element, canvas, marks, plot, readout, ...parts };
  element.lane = lane;
  lanes.push(lane);
  return lane;
}

// -- queues ---------------------------------------------------------------------------------------------------

function queueLane(queue) {
  const fold = queue.children
    ? made('button', { class: 'fold', 'aria-expanded': 'true', 'aria-label': `Queues below ${queue.path}`, onclick: () => toggleFold(queue) })
    : made('i', { class: 'swatch-room' }, swatch(queue.path));
  const name = made('button', { class: 'name', title: queue.path, 'aria-label': queue.path, onclick: () => showQueue(queue) }, queue.label);
  const who = made('div', { class: 'who' }, fold, name);
  who.style.paddingLeft = `${Math.min(queue.depth, 6) * 12}px`;
  const lane = makeLane('queue', { 'data-queue': queue.path, 'aria-label': `Queue ${queue.path}` }, [who], { queue, fold: queue.children ? fold : null });
  lane.shape = () => shapeOfQueue(lane);
  lane.draw = (box) => paintQueue(lane.canvas, queue, box);
  lane.tell = (t) => tellQueue(lane.readout, queue, t);
  return lane;
}

// Which marks a lane shows (those of the queues folded into it too), and how tall it is for them.
function shapeOfQueue(lane) {
  const isFolded = view.folded.has(lane.queue.path) && !view.filter;
  lane.entries = isFolded ? marksBelow(lane.queue) : lane.queue.marks;
  const shownEntries = lane.entries.filter(isShown);
  lane.above = shownEntries.some((entry) => ABOVE.has(entry.mark)) ? MARK_TALL + 3 : 5;
  lane.below = shownEntries.some((entry) => !ABOVE.has(entry.mark)) ? MARK_TALL + 3 : 2;
  const chart = queues.length > OPEN_AT_MOST ? 40 : queues.length > ROOMY_AT_MOST ? 54 : 76;
  lane.element.style.setProperty('--tall', `${lane.above + chart + lane.below}px`);
}

function tellQueue(readout, queue, t) {
  const state = stateAt(queue, view.resource.name, t);
  if (!state) {
    readout.replaceChildren(t < queue.start ? 'not there yet' : 'removed');
    return;
  }
  const bound = state.max !== null ? ` of ${shown(state.max)}` : ' used';
  const parts = [made('b', {}, shown(state.used)), bound];
  if (state.pending) parts.push(', ', made('span', { class: 'over' }, `${shown(state.pending)} pending`));
  if (queue.draining) parts.push(', draining');
  readout.replaceChildren(...parts);
}

function toggleFold(queue) {
  if (view.folded.has(queue.path)) view.folded.delete(queue.path); else view.folded.add(queue.path);
  arrange();
}

// Fold the deepest levels until what is left to see can be looked over.
function foldAtFirst() {
  const depths = queues.map((queue) => queue.depth);
  let deepest = largest(depths);
  while (deepest > 1 && depths.filter((depth) => depth <= deepest).length > OPEN_AT_MOST) deepest -= 1;
  for (const queue of queues) if (queue.children && queue.depth >= deepest) view.folded.add(queue.path);
}

function isQueueShown(queue) {
  if (view.filter) return isMatched(queue);
  for (let above = queue.parent; above; above = above.parent) if (view.folded.has(above.path)) return false;
  return true;
}

// A queue whose path matches, or one above such a queue.
const isMatched = (queue) => queues.slice(queue.index, queue.last + 1).some((each) => matches(each.path));

// -- nodes and the cluster ------------------------------------------------------------------------------------

function nodeLane(node) {
  const name = made('button', { class: 'name', title: node.name, onclick: () => showNode(node) }, node.name);
  const lane = makeLane('node', { 'data-node': node.name, 'aria-label': `Node ${node.name}` }, [made('div', { class: 'who' }, name)], { node, entries: [] });
  lane.shape = () => {};
  lane.draw = (box) => paintNode(lane.canvas, node, box);
  lane.tell = (t) => tellNode(lane.readout, node, t);
  return lane;
}

function tellNode(readout, node, t) {
  if (t < node.start || (node.end !== null && t >= node.end)) {
    readout.replaceChildren(t < node.start ? 'not there yet' : 'removed');
    return;
  }
  const here = node.stays.filter((stay) => isThere(stay, t));
  const used = here.reduce((sum, stay) => sum + sizeOf(stay, view.resource.name), 0);
  const all = own(node.allocatable, view.resource.name, 0);
  const share = all ? [made('b', {}, `${Math.round((100 * used) / all)}%`), ` of ${shown(all)}, `] : [];
  readout.replaceChildren(...share, counted(here.length, 'pod'));
}

// What is about no queue: configurations, restarts, nodes; refusals of pods that no queue took.
function clusterLane() {
  const who = made('div', { class: 'who' }, made('button', { class: 'name', onclick: () => showMarks(clusterMarks) }, 'Cluster'));
  const lane = makeLane('cluster', { 'data-lane': 'cluster', 'aria-label': 'Cluster' }, [who], { entries: clusterMarks });
  lane.shape = () => {
    const isTwofold = clusterMarks.some((entry) => ABOVE.has(entry.mark));
    lane.element.style.setProperty('--tall', isTwofold ? '46px' : '42px');
    lane.above = lane.below = 0;
  };
  lane.draw = (box) => paintGrid(fitted(lane.canvas, box.width, box.height), box.width, box.height);
  lane.tell = () => lane.readout.replaceChildren('configuration, nodes, restarts');
  return lane;
}

// -- drawing --------------------------------------------------------------------------------------------------

function boxOf(lane) {
  return { width: lane.plot.clientWidth, height: lane.plot.clientHeight, above: lane.above || 0, below: lane.below || 0 };
}

// All are measured before any is drawn: after a lane has written its marks, the next measurement would lay
// out the whole page again.
function drawLanes(some) {
  const measured = [...some].filter((lane) => !lane.element.hidden).map((lane) => ({ lane, box: boxOf(lane) }));
  for (const { lane, box } of measured) if (box.width) drawLane(lane, box);
}

function drawLane(lane, box) {
  lane.draw(box);
  fillMarks(lane.marks, lane.entries, box);
  tellLane(lane);
}

const tellLane = (lane) => lane.tell(readAt());

// Far from the window a lane gives its pixels and marks back.
function emptyLane(lane) {
  if (lane.marks.contains(document.activeElement)) return;
  lane.canvas.width = lane.canvas.height = 0;
  lane.marks.replaceChildren();
}

function watchLanes() {
  const observer = new IntersectionObserver((changes) => {
    const come = new Set();
    for (const { target: { lane }, isIntersecting } of changes) {
      if (isIntersecting && !inView.has(lane)) { inView.add(lane); come.add(lane); }
      if (!isIntersecting && inView.delete(lane)) { come.delete(lane); emptyLane(lane); }
    }
    drawLanes(come);
    keepOneTabStop();
  }, { rootMargin: '500px' });
  for (const lane of lanes) observer.observe(lane.element);
  for (const lane of lanes.filter((each) => !each.element.hidden).slice(0, DRAWN_AT_ONCE)) inView.add(lane);
}

// After folding and filtering: which lanes are there, and how tall.
function arrange() {
  for (const lane of lanes) {
    lane.shape();
    if (lane.queue) lane.element.hidden = !isQueueShown(lane.queue);
    if (lane.fold) lane.fold.setAttribute('aria-expanded', String(!view.folded.has(lane.queue.path) || Boolean(view.filter)));
  }
  const shownNow = lanes.filter((lane) => lane.queue && !lane.element.hidden).length;
  byId('queue-count').textContent = shownNow === queues.length ? counted(queues.length, 'queue') : `${shownNow} of ${counted(queues.length, 'queue')} shown`;
  byId('no-queues').hidden = shownNow > 0 || !queues.length;
  byId('unfold').textContent = view.folded.size ? 'Unfold all' : 'Fold all';
  redraw();
}
