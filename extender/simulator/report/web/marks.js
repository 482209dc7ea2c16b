// Marks in a lane: one button per happening, or per bunch of them where they lie close.

const MARK_TALL = 16;
const ABOVE = new Set(['evicted', 'failed']);

const isShown = (entry) => !view.hidden.has(entry.mark);
const short = (number) => (number < 1000 ? String(number) : `${trimmed(number / 1000)}k`.replace(/\.(\d)\d/, '.$1'));
const wideOf = (count) => (count > 1 ? 20 + 7 * short(count).length : MARK_TALL);

// Bunches of happenings in time order, each no nearer to the next than it is wide.
function bunched(entries, width) {
  const found = [];
  for (const entry of entries) {
    const x = xOf(entry.at, width);
    if (x < 0 || x > width) continue;
    const last = found[found.length - 1];
    if (last && x - last.x < wideOf(last.entries.length + 1)) last.entries.push(entry);
    else found.push({ x, entries: [entry] });
  }
  return found;
}

// The gravest kind stands for a bunch; KINDS lists them in that order.
const kindOf = (entries) => KINDS.find(({ kind }) => entries.some((entry) => entry.mark === kind));

function titleOf(entries) {
  if (entries.length === 1) return `${entries[0].pod || entries[0].node || entries[0].kind}, ${timeText(entries[0].at)}`;
  const { kind, one, many } = kindOf(entries);
  const same = entries.filter((entry) => entry.mark === kind).length;
  const rest = entries.length - same;
  return `${counted(same, one, many)}${rest ? ` and ${rest} other` : ''}, ${spanText(entries[0].at, entries[entries.length - 1].at)}`;
}

// Up to `most` reasons, the commonest first, with the pods each is about.
function reasonsOf(entries, most) {
  const groups = [...grouped(entries, (entry) => entry.said)].sort((one, other) => other[1].length - one[1].length);
  const lines = groups.slice(0, most).map(([said, same]) => {
    const names = foldedNames(same.map((entry) => entry.pod).filter(Boolean)).map(({ label }) => label);
    const pods = names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '');
    return entries.length > 1 && pods ? `${said} (${pods})` : said;
  });
  return groups.length > most ? [...lines, `and ${counted(groups.length - most, 'other reason')}`] : lines;
}

function markButton({ x, entries }, box, y) {
  const { kind } = kindOf(entries);
  const wide = wideOf(entries.length);
  const label = made('span', { class: 'unseen' }, `${titleOf(entries)}: ${reasonsOf(entries, 5).join('; ')}`);
  const button = made('button', {
    class: `mark${entries.length > 1 ? ' many' : ''}`, 'data-marker': entries[0].index, 'data-kind': kind, tabindex: -1,
    'aria-pressed': view.chosen === entries[0].index ? 'true' : 'false',
  }, made('i', { class: 'glyph', 'aria-hidden': 'true' }), entries.length > 1 ? made('span', { 'aria-hidden': 'true' }, short(entries.length)) : null, label);
  button.style.left = `${clamp(x - 8, 0, box.width - wide)}px`;
  button.style.top = `${y}px`;
  button.entries = entries;
  return button;
}

function fillMarks(holder, entries, box) {
  const above = entries.filter((entry) => isShown(entry) && ABOVE.has(entry.mark));
  const below = entries.filter((entry) => isShown(entry) && !ABOVE.has(entry.mark));
  const focused = holder.contains(document.activeElement) ? document.activeElement.dataset.marker : null;
  holder.replaceChildren(
    ...bunched(above, box.width).map((bunch) => markButton(bunch, box, 1)),
    ...bunched(below, box.width).map((bunch) => markButton(bunch, box, box.height - MARK_TALL - 1)),
  );
  if (focused !== null) (holder.querySelector(`[data-marker="${focused}"]`) || holder.querySelector('.mark') || document.body).focus();
}

// All marks are one stop of the Tab key; the arrows go from one to the next.
function keepOneTabStop() {
  const marks = [...document.querySelectorAll('.mark')];
  if (marks.length && !marks.some((mark) => mark.tabIndex === 0)) marks[0].tabIndex = 0;
}

function moveFocus(from, key) {
  const marks = [...document.querySelectorAll('.mark')].filter((mark) => mark.offsetParent);
  const next = key === 'ArrowRight' || key === 'ArrowLeft' ? marks[marks.indexOf(from) + (key === 'ArrowRight' ? 1 : -1)] : markInNextLane(marks, from, key);
  if (!next) return;
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function markInNextLane(marks, from, key) {
  const lane = from.closest('.lane');
  const inOrder = key === 'ArrowDown' ? marks.slice(marks.indexOf(from) + 1) : marks.slice(0, marks.indexOf(from)).reverse();
  const first = inOrder.find((mark) => mark.closest('.lane') !== lane);
  if (!first) return null;
  const x = parseFloat(from.style.left);
  const away = (mark) => Math.abs(parseFloat(mark.style.left) - x);
  return inOrder.filter((mark) => mark.closest('.lane') === first.closest('.lane')).reduce((best, mark) => (away(mark) < away(best) ? mark : best));
}

function chooseMark(mark) {
  view.chosen = mark.entries[0].index;
  markChosen();
  showMarks(mark.entries);
}

function markChosen() {
  for (const mark of document.querySelectorAll('.mark')) mark.setAttribute('aria-pressed', String(mark.entries[0].index === view.chosen));
}

function tellMark(mark) {
  const { left, bottom } = mark.getBoundingClientRect();
  showTip(left, bottom - 8, titleOf(mark.entries), reasonsOf(mark.entries, 4));
}

function listenToMarks(board) {
  const markOf = (event) => event.target.closest && event.target.closest('.mark');
  board.addEventListener('pointerover', (event) => { if (markOf(event)) tellMark(markOf(event)); });
  board.addEventListener('pointerout', (event) => { if (markOf(event)) hideTip(); });
  board.addEventListener('focusin', (event) => { if (markOf(event) && markOf(event).matches(':focus-visible')) { tellMark(markOf(event)); chooseMark(markOf(event)); } });
  board.addEventListener('focusout', (event) => { if (markOf(event)) hideTip(); });
  board.addEventListener('click', (event) => {
    if (!markOf(event)) return;
    chooseMark(markOf(event));
    hideTip();
  });
  board.addEventListener('keydown', (event) => {
    if (!markOf(event) || !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    moveFocus(markOf(event), event.key);
  });
}
