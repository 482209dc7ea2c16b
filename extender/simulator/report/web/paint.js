// Drawing on canvases. A painter is given what it needs and keeps nothing but patterns and colours.

const SHADES = ['ground', 'surface', 'ink', 'quiet', 'line', 'faint', 'used', 'used-fill', 'pending', 'pending-fill', 'guaranteed', 'max', 'evicted', 'refused', 'absent'];
// Paul Tol's "muted" and "light" schemes, which people with any kind of colour blindness can tell apart.
const TONES = {
  light: ['#44aa99', '#332288', '#ddcc77', '#aa4499', '#88ccee', '#117733', '#cc6677', '#999933', '#882255'],
  dark: ['#44bb99', '#77aadd', '#eedd88', '#ffaabb', '#99ddff', '#bbcc33', '#ee8866', '#aaaa00', '#c3a5e6'],
};
const TEXTURES = ['', 'striped', 'barred'];
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const dark = matchMedia('(prefers-color-scheme: dark)');
let shade = {};
let patterns = new Map();

function readColours() {
  const style = getComputedStyle(document.documentElement);
  shade = Object.fromEntries(SHADES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  patterns = new Map();
}

// Colour and texture of a queue's pods: by the place of the queue among those that ever ran a pod.
const placed = new Set(nodes.flatMap((node) => node.stays.map((stay) => stay.queue)));
const toneNumbers = new Map(queues.filter((queue) => placed.has(queue.path)).map((queue, number) => [queue.path, number]));

function toneOf(path) {
  const number = toneNumbers.get(path);
  if (number === undefined) return { colour: shade.quiet, texture: 'barred' };
  const tones = dark.matches ? TONES.dark : TONES.light;
  return { colour: tones[number % tones.length], texture: TEXTURES[Math.floor(number / tones.length) % TEXTURES.length] };
}

function patternOf(context, { colour, texture }, ground) {
  if (!texture) return colour;
  const key = `${colour} ${texture} ${ground}`;
  if (!patterns.has(key)) patterns.set(key, context.createPattern(tile(colour, texture, ground), 'repeat'));
  return patterns.get(key);
}

function tile(colour, texture, ground) {
  const made = document.createElement('canvas');
  made.width = made.height = 6;
  const context = made.getContext('2d');
  context.fillStyle = ground;
  context.fillRect(0, 0, 6, 6);
  context.strokeStyle = colour;
  context.lineWidth = texture === 'hatch' ? 1.1 : 2.4;
  context.beginPath();
  if (texture === 'barred') { context.moveTo(0, 3); context.lineTo(6, 3); }
  else for (const shift of [-6, 0, 6]) { context.moveTo(shift - 1, 7); context.lineTo(shift + 7, -1); }
  context.stroke();
  return made;
}

// Fit a canvas to its element at the screen's resolution; its context in CSS pixels, wiped.
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  return context;
}

function paintGrid(context, width, height) {
  context.fillStyle = shade.faint;
  for (const t of ticks(width)) context.fillRect(Math.round(xOf(t, width)), 0, 1, height);
}

function paintAbsence(context, from, to, width, height) {
  if (to <= 0) return;
  const left = Math.max(0, xOf(from, width));
  const right = Math.min(width, xOf(to, width));
  if (right <= left) return;
  context.fillStyle = shade.absent;
  context.fillRect(left, 0, right - left, height);
}

// -- queues ---------------------------------------------------------------------------------------------------

// The amount at the top of a queue's lane. Usage decides: a max far above it is only named, and what is
// pending may take no more than half of the height from the rest.
function topOf({ used, asked, guaranteed, max }) {
  const held = Math.max(used, guaranteed);
  const isMaxNear = max > 0 && max <= 4 * Math.max(held, asked);
  const bounded = Math.max(held, isMaxNear || !asked ? max : 0);
  const top = bounded ? Math.max(bounded, Math.min(asked, 1.8 * bounded)) : asked;
  return { top: (top || 1) * 1.08, isMaxNear: isMaxNear || !asked };
}

// Steps as points [x, one, other] in pixels and amounts; where they lie closer than a pixel, the largest
// sum of each pixel.
function pointsOf(steps, width, end) {
  const [times, first, second] = steps;
  const points = [];
  const stop = Math.min(end, view.to + (view.to - view.from) * 0.02);
  for (let place = Math.max(0, placeAt(times, view.from - (view.to - view.from) * 0.02)); place < times.length && times[place] <= stop; place += 1) {
    addPoint(points, xOf(times[place], width), first[place], second[place]);
  }
  if (points.length) points.push([xOf(stop, width), points[points.length - 1][1], points[points.length - 1][2], true]);
  return points;
}

function addPoint(points, x, one, other) {
  const last = points[points.length - 1];
  const isCrowded = points.length > 1 && x - last[0] < 0.5 && last[3] !== true;
  if (!isCrowded) points.push([x, one, other, false]);
  else if (one + other >= last[1] + last[2]) { last[1] = one; last[2] = other; }
}

function stepPath(context, points, heightOf) {
  points.forEach((point, place) => {
    const y = heightOf(point);
    if (place) context.lineTo(point[0], heightOf(points[place - 1])); else context.moveTo(point[0], y);
    context.lineTo(point[0], y);
  });
}

function fillBetween(context, points, lower, upper, style) {
  if (points.length < 2) return;
  context.beginPath();
  stepPath(context, points, upper);
  for (let place = points.length - 1; place > 0; place -= 1) {
    context.lineTo(points[place][0], lower(points[place - 1]));
    context.lineTo(points[place - 1][0], lower(points[place - 1]));
  }
  context.closePath();
  context.fillStyle = style;
  context.fill();
}

function strokeSteps(context, points, heightOf, colour, width, dashes) {
  context.beginPath();
  context.setLineDash(dashes || []);
  let isOpen = false;
  for (let place = 0; place + 1 < points.length; place += 1) {
    const y = heightOf(points[place]);
    if (y === null) { isOpen = false; continue; }
    if (isOpen) context.lineTo(points[place][0], y); else context.moveTo(points[place][0], y);
    context.lineTo(points[place + 1][0], y);
    isOpen = true;
  }
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
  context.setLineDash([]);
}

// One queue over time. `box`: {width, height, above, below}, the last two left free for marks.
function paintQueue(canvas, queue, box) {
  const context = fitted(canvas, box.width, box.height);
  const end = queue.removed === null ? END * 1.05 : queue.removed;
  paintGrid(context, box.width, box.height);
  paintAbsence(context, -END, queue.start, box.width, box.height);
  paintAbsence(context, end, END * 2, box.width, box.height);
  const { top, isMaxNear } = topOf(peaksOf(queue, view.resource.name));
  const base = box.height - box.below;
  const room = base - box.above;
  const y = (amount) => base - Math.min(1, amount / top) * room;
  paintUsage(context, pointsOf(usageOf(queue, view.resource.name), box.width, end), y, top);
  paintBounds(context, pointsOf(boundsOf(queue, view.resource.name), box.width, end), y, isMaxNear, box);
  context.fillStyle = shade.line;
  context.fillRect(0, base, box.width, 1);
}

function paintUsage(context, points, y, top) {
  const used = (point) => y(point[1]);
  const asked = (point) => y(point[1] + point[2]);
  fillBetween(context, points, used, asked, patternOf(context, { colour: shade.pending, texture: 'hatch' }, shade['pending-fill']));
  strokeSteps(context, points, (point) => (point[2] > 0 ? asked(point) : null), shade.pending, 1);
  strokeSteps(context, points, (point) => (point[1] + point[2] > top ? y(top) : null), shade.pending, 2.5, [2, 3]);
  fillBetween(context, points, () => y(0), used, shade['used-fill']);
  strokeSteps(context, points, (point) => (point[1] > 0 ? used(point) : null), shade.used, 1.6);
}

function paintBounds(context, points, y, isMaxNear, box) {
  strokeSteps(context, points, (point) => (point[1] ? y(point[1]) : null), shade.guaranteed, 1.6, [6, 4]);
  if (isMaxNear) strokeSteps(context, points, (point) => (point[2] === null ? null : y(point[2])), shade.max, 1.4);
  const last = points.length ? points[points.length - 2] || points[0] : null;
  if (!last) return;
  const lines = [];
  if (last[2] !== null) lines.push({ at: isMaxNear ? y(last[2]) : box.above + 1, words: `max ${shown(last[2])}${isMaxNear ? '' : ' \u2191'}`, colour: shade.max });
  if (last[1]) lines.push({ at: y(last[1]), words: `guaranteed ${shown(last[1])}`, colour: shade.guaranteed });
  paintLabels(context, lines, box);
}

// The lines' names at the right edge, each below its line, or beside the other where they lie too close.
function paintLabels(context, lines, box) {
  context.textAlign = 'right';
  context.textBaseline = 'top';
  context.lineJoin = 'round';
  let right = box.width - PAD;
  lines.forEach((line, place) => {
    if (place && Math.abs(line.at - lines[0].at) < 13) right -= context.measureText(lines[0].words).width + 12;
    const top = clamp(line.at + 2, 1, box.height - 14);
    context.strokeStyle = shade.surface;
    context.lineWidth = 3;
    context.strokeText(line.words, right, top);
    context.fillStyle = line.colour;
    context.fillText(line.words, right, top);
  });
}

// -- nodes ----------------------------------------------------------------------------------------------------

const scaleOf = (node) => Math.max(own(node.allocatable, view.resource.name, 0), blocksOf(node, view.resource.name).peak) || 1;

function paintNode(canvas, node, box) {
  const context = fitted(canvas, box.width, box.height);
  paintGrid(context, box.width, box.height);
  paintAbsence(context, -END, node.start, box.width, box.height);
  if (node.end !== null) paintAbsence(context, node.end, END * 2, box.width, box.height);
  const scale = scaleOf(node);
  const room = box.height - 4;
  const { blocks, usage } = blocksOf(node, view.resource.name);
  const points = pointsOf(usage, box.width, node.end === null ? END * 1.05 : node.end);
  const y = (point) => box.height - 1 - (point[1] / scale) * room;
  fillBetween(context, points, () => box.height, y, shade.faint);
  for (const block of blocks) paintBlock(context, block, scale, room, box);
  strokeSteps(context, points, (point) => (point[1] > 0 ? y(point) : null), shade.quiet, 1);
}

function paintBlock(context, { stay, low, high }, scale, room, box) {
  const left = xOf(stay.start, box.width);
  const right = stay.end === null ? box.width : xOf(stay.end, box.width);
  if (right < 0 || left > box.width) return;
  const y = box.height - 1 - (high / scale) * room;
  const height = ((high - low) / scale) * room;
  const wide = Math.max(right - left, 1);
  const isDimmed = view.lit ? !isWithin(stay.queue, view.lit) : view.filter && !matches(stay.queue);
  context.globalAlpha = isDimmed ? 0.15 : 1;
  const tone = toneOf(stay.queue);
  context.fillStyle = height < 5 ? tone.colour : patternOf(context, tone, shade.surface);
  context.fillRect(left, y, wide > 3 ? wide - 0.7 : wide, height > 3 ? height - 0.7 : height);
  if (!isDimmed && height >= 13 && Math.min(right, box.width) - Math.max(left, 0) > 44) paintName(context, stay.pod, left, right, y + height / 2, box);
  context.globalAlpha = 1;
}

const isWithin = (path, above) => path === above || path.startsWith(above + '.');

function paintName(context, words, left, right, middle, box) {
  const start = Math.max(left, 0) + 5;
  const room = Math.min(right, box.width) - start - 4;
  const fits = Math.floor(room / (context.measureText(words).width / words.length));
  const label = fits >= words.length ? words : words.slice(0, Math.max(0, fits - 1)) + '\u2026';
  const wide = context.measureText(label).width;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillStyle = shade.surface;
  context.globalAlpha = 0.82;
  context.fillRect(start - 2, middle - 6.5, wide + 4, 13);
  context.globalAlpha = 1;
  context.fillStyle = shade.ink;
  context.fillText(label, start, middle + 0.5);
}

// The stay under a point of a node's lane.
function stayAt(node, x, y, box) {
  const t = timeOf(x, box.width);
  const amount = ((box.height - 1 - y) / (box.height - 4)) * scaleOf(node);
  const block = blocksOf(node, view.resource.name).blocks.find((each) => isThere(each.stay, t) && each.low <= amount && amount < each.high);
  return block ? block.stay : null;
}

// -- axis and overview ----------------------------------------------------------------------------------------

function paintAxis(canvas, width, height) {
  const context = fitted(canvas, width, height);
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  for (const t of ticks(width)) {
    const x = Math.round(xOf(t, width));
    const words = timeText(t);
    const half = context.measureText(words).width / 2;
    context.fillStyle = shade.line;
    context.fillRect(x, height - 4, 1, 4);
    context.fillStyle = shade.quiet;
    context.fillText(words, clamp(x, half + 2, width - half - 2), height / 2 - 1);
  }
}

// The whole run: what the first queue used, evictions above and refusals below as counts per slice of time.
function paintOverview(canvas, width, height) {
  const context = fitted(canvas, width, height);
  const inner = width - 16;
  const x = (t) => 8 + (t / END) * inner;
  if (queues.length) paintWhole(context, x, height);
  for (const [kind, isAbove] of [['refused', false], ['evicted', true]]) paintCounts(context, kind, isAbove, x, inner, height);
}

function paintWhole(context, x, height) {
  const steps = usageOf(queues[0], view.resource.name);
  const top = topOf(peaksOf(queues[0], view.resource.name)).top;
  const points = [];
  steps[0].forEach((t, place) => addPoint(points, x(t), steps[1][place], 0));
  if (points.length) points.push([x(END), points[points.length - 1][1], 0, true]);
  const y = (point) => height - 1 - Math.min(1, point[1] / top) * (height - 4);
  fillBetween(context, points, () => height, y, shade['used-fill']);
}

function paintCounts(context, kind, isAbove, x, inner, height) {
  const slices = new Map();
  for (const entry of happenings) {
    if (entry.mark !== kind || view.hidden.has(kind)) continue;
    const slice = Math.floor(x(entry.at) / 3);
    slices.set(slice, (slices.get(slice) || 0) + 1);
  }
  const most = largest([...slices.values()]);
  context.fillStyle = shade[kind];
  for (const [slice, count] of slices) {
    const tall = 3 + 9 * (count / most);
    context.fillRect(slice * 3, isAbove ? 0 : height - tall, 2, tall);
  }
}
