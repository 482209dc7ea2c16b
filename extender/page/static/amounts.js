// Amounts as Kubernetes writes them, and times in UTC.

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const FIRST = ['vcore', 'memory', 'pods'];

const isBytes = (resource) => /^(memory|ephemeral-storage|hugepages-.*|storage)$/.test(resource);

export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

// The resource by the name that Kubernetes has for it.
export const resourceName = (resource) => (resource === 'vcore' ? 'cpu' : resource);

export function amount(resource, value) {
  if (value === undefined || value === null) return '–';
  if (resource === 'vcore') return value % 1000 ? `${value}m` : `${value / 1000}`;
  return isBytes(resource) ? bytes(value) : String(value);
}

// Exact where a suffix divides the amount, else with one decimal of a suffix.
function bytes(value) {
  const size = Math.abs(value);
  let power = 0;
  while (power < 6 && size >= 1024 ** (power + 1)) power += 1;
  for (const exact of [power, power - 1]) {
    if (exact >= 0 && value % 1024 ** exact === 0) return `${value / 1024 ** exact}${BINARY[exact]}`;
  }
  return `${(value / 1024 ** power).toFixed(1)}${BINARY[power]}`;
}

export function amounts(values) {
  const names = resourcesOf(values);
  return names.length ? names.map((name) => `${resourceName(name)} ${amount(name, values[name])}`).join(', ') : '–';
}

// Names of resources that any of these amounts has: cpu, memory and pods first.
export function resourcesOf(...all) {
  const found = new Set(all.flatMap((each) => Object.keys(each ?? {})));
  const rank = (name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return [...found].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

export function share(part, whole) {
  if (!whole) return part > 0 ? 1 : 0;
  return Math.max(0, Math.min(1, part / whole));
}

// -- times ----------------------------------------------------------------------------------------------------

export const fromNanoseconds = (value) => (value ? value / 1e6 : null);

export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

const pad = (number, width = 2) => String(number).padStart(width, '0');

export function moment(milliseconds, local) {
  if (milliseconds === null || !Number.isFinite(milliseconds)) return '–';
  const at = new Date(milliseconds);
  if (!local) return `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}
