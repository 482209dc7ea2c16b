// What is shown now (time range, resource, filter), and times and amounts as people read them.

const END = Math.max(data.end, 1000);
const SHORTEST = 10;
const PAD = 14;
const view = {
  from: 0, to: END, resource: data.resources[0], filter: '', cursor: null, lit: null,
  hidden: new Set(), folded: new Set(), chosen: null,
};

const xOf = (t, width) => PAD + ((t - view.from) / (view.to - view.from)) * (width - 2 * PAD);
const timeOf = (x, width) => view.from + ((x - PAD) / (width - 2 * PAD)) * (view.to - view.from);
// The time that readouts are about: under the pointer, else at the right end of what is shown.
const readAt = () => (view.cursor === null ? view.to : view.cursor);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function showRange(from, to) {
  const span = clamp(to - from, SHORTEST, END);
  view.from = clamp(from, 0, END - span);
  view.to = view.from + span;
}

// Make the range `factor` times as long; the time `around` stays where it is.
function zoomBy(factor, around) {
  const span = clamp((view.to - view.from) * factor, SHORTEST, END);
  const share = (around - view.from) / (view.to - view.from);
  showRange(around - share * span, around + (1 - share) * span);
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .concat([1, 2, 5, 10, 15, 30].map((many) => many * SECOND), [1, 2, 5, 10, 15, 30].map((many) => many * MINUTE))
  .concat([1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720].map((many) => many * HOUR));

function ticks(width) {
  const most = Math.max(2, Math.floor(width / 90));
  const span = view.to - view.from;
  const step = STEPS.find((each) => span / each <= most) || STEPS[STEPS.length - 1];
  const found = [];
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) found.push(t);
  return found;
}

const two = (number) => String(number).padStart(2, '0');

// 12.5s below a minute of run, else 1:02.5 and 1:00:02.5, with no more of a fraction than there is.
function timeText(t) {
  const whole = Math.round(t);
  if (END < MINUTE) return `${whole / SECOND}s`;
  const fraction = whole % SECOND ? String((whole % SECOND) / SECOND).slice(1) : '';
  const seconds = two(Math.floor(whole / SECOND) % 60) + fraction;
  const minutes = Math.floor(whole / MINUTE) % 60;
  return END < HOUR ? `${minutes}:${seconds}` : `${Math.floor(whole / HOUR)}:${two(minutes)}:${seconds}`;
}

const trimmed = (number) => String(Math.round(number * 100) / 100);

function amountText(amount, unit) {
  if (unit === 'cores') return String(Math.round(amount) / 1000);
  if (unit !== 'bytes') return amount.toLocaleString('en');
  let size = Math.abs(amount);
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  while (Math.round(size * 100) / 100 >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return (amount < 0 ? '-' : '') + trimmed(size) + units[0];
}

const shown = (amount) => amountText(amount, view.resource.unit);

function matches(path) {
  const lower = path.toLowerCase();
  return view.filter.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
