// The page: what stands on it once, what the reader can do, and when things are drawn.

const board = byId('lanes');
const crosshair = byId('crosshair');
const flag = byId('flag');
let isDue = false;

function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(drawAll);
}

function drawAll() {
  isDue = false;
  const axis = byId('axis');
  paintAxis(axis, axis.clientWidth, axis.clientHeight);
  drawBrush();
  byId('range').textContent = `${timeText(view.from)} \u2013 ${timeText(view.to)}`;
  for (const [id, isOff] of [['earlier', view.from <= 0], ['later', view.to >= END], ['out', view.to - view.from >= END], ['fit', view.to - view.from >= END], ['in', view.to - view.from <= SHORTEST]]) byId(id).disabled = isOff;
  drawLanes(inView);
  keepOneTabStop();
  document.documentElement.dataset.ready = 'true';
}

function drawOverview() {
  const strip = byId('overview');
  paintOverview(strip.querySelector('canvas'), strip.clientWidth, strip.clientHeight);
}

function drawBrush() {
  const brush = byId('brush');
  const inner = byId('overview').clientWidth - 16;
  brush.style.left = `${8 + (view.from / END) * inner}px`;
  brush.style.width = `${Math.max(4, ((view.to - view.from) / END) * inner)}px`;
}

// -- what stands on the page ----------------------------------------------------------------------------------

function fillMasthead() {
  byId('file').textContent = data.file;
  const totals = data.totals;
  const numbers = [['pods', totals.pods, ''], ['placed', totals.placed, ''], ['waiting', totals.waiting, 'waiting'], ['evictions', totals.evicted, 'evicted'], ['refusals', totals.refusals, 'refused'], ['queues', queues.length, ''], ['nodes', nodes.length, ''], ['simulated', timeText(data.end), '']];
  byId('totals').append(...numbers.map(([label, value, kind]) => made('div', { class: value ? kind : '' }, made('dt', {}, label), made('dd', {}, value.toLocaleString('en')))));
  if (!data.checks && !data.differences.length) return;
  const isGood = !data.differences.length;
  byId('verdict').textContent = isGood ? `${counted(data.checks, 'check')} passed` : `${data.differences.length} of ${counted(data.checks, 'check')} failed`;
  byId('verdict').classList.add(isGood ? 'good' : 'bad');
}

function fillResources() {
  if (data.resources.length > 4) {
    const choice = made('select', { 'aria-label': 'Resource' }, ...data.resources.map(({ name }) => made('option', { value: name }, name)));
    choice.addEventListener('change', () => chooseResource(choice.value));
    byId('resources').append(choice);
    return;
  }
  byId('resources').append(...data.resources.map(({ name }) => made('button', { 'data-resource': name, 'aria-pressed': String(name === view.resource.name), onclick: () => chooseResource(name) }, name)));
}

function chooseResource(name) {
  view.resource = data.resources.find((each) => each.name === name);
  for (const button of byId('resources').querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.resource === name));
  drawOverview();
  redraw();
}

function fillKinds() {
  for (const { kind, one, many } of KINDS) {
    const count = happenings.filter((entry) => entry.mark === kind).length;
    if (!count) continue;
    const button = made('button', { 'aria-pressed': 'true', title: `Show or hide: ${many}`, onclick: () => toggleKind(kind, button) }, glyph(kind), counted(count, one, many));
    byId('kinds').append(button);
  }
}

function toggleKind(kind, button) {
  const isOff = view.hidden.delete(kind) === false;
  if (isOff) view.hidden.add(kind);
  button.setAttribute('aria-pressed', String(!isOff));
  drawOverview();
  arrange();
}

function fillLegends() {
  const key = (name, words) => made('li', {}, made('i', { class: `key ${name}` }), words);
  byId('queue-legend').append(key('used', 'used'), key('pending', 'pending'), key('guaranteed', 'guaranteed'), key('max', 'max'));
  const named = [...toneNumbers.keys()];
  const legend = byId('node-legend');
  if (named.length <= 9) legend.append(...named.map((path) => made('li', {}, swatch(path), path)));
  else legend.append(made('li', {}, 'coloured by queue, as beside its name'));
  if (placed.has('')) legend.append(made('li', {}, swatch(''), 'no queue'));
  legend.append(key('share', 'used share'));
  if (nodes.some((node) => node.start > 0 || node.end !== null)) legend.append(key('absent', 'not there'));
}

function fillLanes() {
  const cluster = clusterMarks.length ? [clusterLane().element] : [];
  byId('queues').replaceChildren(...cluster, ...queues.map((queue) => queueLane(queue).element));
  byId('nodes').classList.toggle('nodes-dense', nodes.length > OPEN_AT_MOST);
  byId('nodes').classList.toggle('nodes-roomy', nodes.length <= ROOMY_AT_MOST);
  byId('nodes').replaceChildren(...nodes.map((node) => nodeLane(node).element));
  byId('node-count').textContent = counted(nodes.length, 'node');
  byId('unfold').hidden = !queues.some((queue) => queue.children && queue.depth > 0);
}

function refreshSwatches() {
  for (const lane of lanes) if (lane.queue && !lane.fold) lane.element.querySelector('.swatch').replaceWith(swatch(lane.queue.path));
  byId('queue-legend').replaceChildren();
  byId('node-legend').replaceChildren();
  fillLegends();
}

// -- the timeline as text -------------------------------------------------------------------------------------

let logged = 0;

const isLogged = (entry) => !view.filter || matches(entry.queue);

function fillLog(isMore) {
  if (!byId('log').open) return;
  const entries = happenings.filter(isLogged);
  logged = Math.min(entries.length, (isMore ? logged : 0) + 200);
  byId('log-rows').replaceChildren(...entries.slice(0, logged).map((entry) => made('tr', {}, made('td', {}, timeText(entry.at)), made('td', {}, entry.pod && podLink(entry.pod)), made('td', {}, entry.queue), made('td', {}, entry.said))));
  byId('log-count').textContent = `${logged.toLocaleString('en')} of ${counted(entries.length, 'entry', 'entries')}`;
  byId('log-more').hidden = logged >= entries.length;
}

// -- pointer and keys -----------------------------------------------------------------------------------------

// The plots' left edge and width, within the board and within the window.
function plotFrame() {
  const around = board.getBoundingClientRect();
  const strip = byId('axis').getBoundingClientRect();
  return { left: strip.left - around.left, windowLeft: strip.left, width: strip.width };
}

function pointAt(event) {
  const frame = plotFrame();
  const x = event.clientX - frame.windowLeft;
  return { frame, x, isInside: x >= 0 && x <= frame.width && event.target.closest('.plot, .axis') !== null };
}

function followPointer(event) {
  const { frame, x, isInside } = pointAt(event);
  const lane = event.target.closest('.lane');
  setCursor(isInside ? clamp(timeOf(x, frame.width), 0, END) : null, frame.left + x);
  light(lane && lane.lane.queue ? lane.lane.queue.path : null);
  if (event.target.closest('.mark')) return;
  if (isInside && lane && lane.lane.node) tellStay(lane.lane, event, x);
  else hideTip();
}

function setCursor(t, x) {
  view.cursor = t;
  crosshair.hidden = flag.hidden = t === null;
  if (t !== null) {
    crosshair.style.left = `${x}px`;
    flag.style.left = `${clamp(x - plotFrame().left, 20, plotFrame().width - 20)}px`;
    flag.textContent = timeText(view.to - view.from > 10 * SECOND ? Math.round(t / 10) * 10 : t);
  }
  for (const lane of inView) if (!lane.element.hidden) tellLane(lane);
}

function light(path) {
  if (view.lit === path) return;
  view.lit = path;
  for (const lane of inView) if (lane.node) lane.draw(boxOf(lane));
}

const stayUnder = (lane, event, x) => stayAt(lane.node, x, event.clientY - lane.plot.getBoundingClientRect().top, boxOf(lane));

function tellStay(lane, event, x) {
  const stay = stayUnder(lane, event, x);
  if (!stay) return hideTip();
  const sizes = data.resources.filter(({ name }) => own(stay.size, name, 0)).map(({ name, unit }) => `${name} ${amountText(stay.size[name], unit)}`);
  return showTip(event.clientX, event.clientY, stay.pod, [stay.queue || 'no queue', sizes.join(', '), `from ${timeText(stay.start)}${stay.end === null ? '' : ` to ${timeText(stay.end)}`}`]);
}

// Drag over lanes: choose a range. A press without a drag on a node's lane: its pod.
function listenToDrag() {
  let start = null;
  board.addEventListener('pointerdown', (event) => {
    const point = pointAt(event);
    if (event.button === 0 && event.pointerType === 'mouse' && point.isInside && !event.target.closest('.mark')) { start = { ...point, at: timeOf(point.x, point.frame.width) }; event.preventDefault(); }
  });
  window.addEventListener('pointermove', (event) => { if (start) drawBand(start, event); });
  window.addEventListener('pointerup', (event) => {
    if (start) endDrag(start, event);
    start = null;
    byId('band').hidden = true;
  });
  board.addEventListener('click', (event) => {
    const lane = event.target.closest('.lane.node');
    if (lane && event.target.closest('.plot')) chooseStay(lane.lane, event);
  });
}

function drawBand(start, event) {
  const x = clamp(event.clientX - start.frame.windowLeft, 0, start.frame.width);
  const band = byId('band');
  band.hidden = Math.abs(x - start.x) < 6;
  band.style.left = `${start.frame.left + Math.min(x, start.x)}px`;
  band.style.width = `${Math.abs(x - start.x)}px`;
}

function endDrag(start, event) {
  const x = clamp(event.clientX - start.frame.windowLeft, 0, start.frame.width);
  if (Math.abs(x - start.x) < 6) return;
  const end = timeOf(x, start.frame.width);
  showRange(Math.min(start.at, end), Math.max(start.at, end));
  redraw();
}

function chooseStay(lane, event) {
  const stay = stayUnder(lane, event, pointAt(event).x);
  if (stay) showPod(stay.pod);
}

function listenToWheel() {
  board.addEventListener('wheel', (event) => {
    const { frame, x, isInside } = pointAt(event);
    if (!isInside || !(event.ctrlKey || event.metaKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) return;
    event.preventDefault();
    const span = view.to - view.from;
    if (event.ctrlKey || event.metaKey) zoomBy(Math.exp(clamp(event.deltaY, -100, 100) / 250), timeOf(x, frame.width));
    else showRange(view.from + (event.deltaX / frame.width) * span, view.to + (event.deltaX / frame.width) * span);
    redraw();
  }, { passive: false });
}

// The strip over all of time: drag its middle or an edge, or draw a new range beside it.
function listenToOverview() {
  const strip = byId('overview');
  let grip = null;
  const timeAt = (event) => clamp(((event.clientX - strip.getBoundingClientRect().left - 8) / (strip.clientWidth - 16)) * END, 0, END);
  strip.addEventListener('pointerdown', (event) => {
    const edge = event.target.dataset.edge;
    const isWhole = view.to - view.from >= END;
    grip = { from: view.from, to: view.to, at: timeAt(event), way: edge || (event.target.id === 'brush' && !isWhole ? 'move' : 'new') };
    strip.setPointerCapture(event.pointerId);
    event.preventDefault();
    strip.focus({ focusVisible: false });
  });
  strip.addEventListener('pointermove', (event) => { if (grip) pullBrush(grip, timeAt(event)); });
  for (const name of ['pointerup', 'pointercancel']) strip.addEventListener(name, () => { grip = null; });
  strip.addEventListener('dblclick', () => { showRange(0, END); redraw(); });
  strip.addEventListener('keydown', (event) => moveByKey(event));
}

function pullBrush(grip, t) {
  if (grip.way === 'move') showRange(grip.from + t - grip.at, grip.to + t - grip.at);
  else if (grip.way === 'left') showRange(Math.min(t, grip.to - SHORTEST), grip.to);
  else if (grip.way === 'right') showRange(grip.from, Math.max(t, grip.from + SHORTEST));
  else if (Math.abs(t - grip.at) > END / 200) showRange(Math.min(t, grip.at), Math.max(t, grip.at));
  redraw();
}

const MOVES = {
  earlier: () => showRange(view.from - (view.to - view.from) / 4, view.to - (view.to - view.from) / 4),
  later: () => showRange(view.from + (view.to - view.from) / 4, view.to + (view.to - view.from) / 4),
  in: () => zoomBy(0.5, (view.from + view.to) / 2),
  out: () => zoomBy(2, (view.from + view.to) / 2),
  fit: () => showRange(0, END),
};
const KEYS = { ArrowLeft: 'earlier', ArrowRight: 'later', '+': 'in', '=': 'in', '-': 'out', 0: 'fit', Home: 'fit' };

function moveByKey(event) {
  const move = KEYS[event.key];
  if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  MOVES[move]();
  redraw();
}

function listenToControls() {
  for (const name of Object.keys(MOVES)) byId(name).addEventListener('click', () => { MOVES[name](); redraw(); });
  byId('filter').addEventListener('input', () => { view.filter = byId('filter').value.trim(); arrange(); fillLog(false); });
  byId('unfold').addEventListener('click', () => {
    if (view.folded.size) view.folded.clear();
    else for (const queue of queues) if (queue.children && queue.depth > 0) view.folded.add(queue.path);
    arrange();
  });
  byId('overview-button').addEventListener('click', () => { showOverview(); panel.classList.toggle('open'); });
  byId('log').addEventListener('toggle', () => fillLog(false));
  byId('log-more').addEventListener('click', () => fillLog(true));
  window.addEventListener('keydown', (event) => { if (event.key === 'Escape') { hideTip(); showOverview(); panel.classList.remove('open'); } });
}

function listenToPointer() {
  board.addEventListener('pointermove', followPointer);
  board.addEventListener('pointerleave', () => { setCursor(null, 0); light(null); hideTip(); });
  listenToDrag();
  listenToWheel();
  listenToOverview();
  listenToMarks(board);
}

// -- start ----------------------------------------------------------------------------------------------------

function start() {
  readColours();
  fillMasthead();
  fillResources();
  fillKinds();
  foldAtFirst();
  fillLanes();
  fillLegends();
  showOverview();
  listenToControls();
  listenToPointer();
  arrange();
  watchLanes();
  drawOverview();
  drawAll();
  new ResizeObserver(() => { drawOverview(); redraw(); }).observe(board);
  dark.addEventListener('change', () => { readColours(); refreshSwatches(); drawOverview(); redraw(); });
}

start();
