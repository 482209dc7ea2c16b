// Requests to the interface, with addresses relative to the page. A token is kept in memory only.

const clock = { skew: 0 };
const login = { token: '' };

export const serverNow = () => Date.now() + clock.skew;
export const setToken = (token) => { login.token = token.trim(); };
export const hasToken = () => login.token !== '';

// kind: unreachable, login, forbidden, missing, busy, unready or failed.
export class Problem extends Error {
  constructor(kind, message, path) {
    super(message);
    this.kind = kind;
    this.path = path;
  }
}

const KINDS = { 401: 'login', 403: 'forbidden', 404: 'missing', 429: 'busy', 503: 'unready' };

export async function request(path, options = {}) {
  const headers = { Accept: '*/*', ...options.headers };
  if (login.token) headers.Authorization = `Bearer ${login.token}`;
  let response;
  try {
    response = await fetch(path, {
      ...options, headers, cache: 'no-store', credentials: 'same-origin', redirect: 'error', referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem('unreachable', 'Paddock does not answer', path);
  }
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (Number.isFinite(date)) clock.skew = Math.abs(date - Date.now()) > 3000 ? date - Date.now() : 0;
  if (response.ok || options.anyStatus) return response;
  throw new Problem(KINDS[response.status] ?? 'failed', await messageOf(response), path);
}

async function messageOf(response) {
  const text = await response.text().catch(() => '');
  try {
    const body = JSON.parse(text);
    return String(body.message ?? body.error ?? text);
  } catch {
    return text.slice(0, 500) || `status ${response.status}`;
  }
}

export const ask = async (path, options) => (await request(path, options)).json();
export const askText = async (path, options) => (await request(path, options)).text();

// A value, or the problem that stands for it: some paths may be forbidden while others are not.
export async function attempt(promise) {
  try {
    return { value: await promise };
  } catch (problem) {
    if (!(problem instanceof Problem) || ['unreachable', 'login', 'unready'].includes(problem.kind)) throw problem;
    return { problem };
  }
}

export const inPartition = (...parts) => ['ws/v1/partition/default', ...parts.map(encodeURIComponent)].join('/');

// A name that the server decodes twice: once as a path, and once more as a name.
export const twice = (name) => encodeURIComponent(name);
