// Making elements, always from text and never from markup; and the tooltip.

function made(tag, options, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options || {})) {
    if (name === 'onclick') element.addEventListener('click', value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

const byId = (id) => document.getElementById(id);
const glyph = (kind) => made('span', { 'data-kind': kind, 'aria-hidden': 'true' }, made('i', { class: 'glyph' }));

function swatch(path) {
  const { colour, texture } = toneOf(path);
  const made_ = made('i', { class: `swatch ${texture}`, 'aria-hidden': 'true' });
  made_.style.setProperty('--tone', colour);
  return made_;
}

const tip = byId('tip');

// Show a title and lines beside a point of the window, kept inside it.
function showTip(x, y, title, lines) {
  tip.replaceChildren(made('strong', {}, title), ...lines.map((line) => made('p', {}, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
  const top = y + 16 + height > window.innerHeight ? y - 12 - height : y + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() {
  tip.hidden = true;
}
