// Events from the event stream. While no stream is open, the page polls.

import { ask, request, Problem } from './api.js';

const KEPT = 2000;
const BEFORE = 200;
const RETRY = 5000;

export class Live {
  // changed(): something happened; status(mode): stream, polling or off.
  constructor(changed, status) {
    this.events = [];
    this.mode = 'off';
    this._changed = changed;
    this._status = status;
    this._abort = null;
    this._retry = null;
    this._next = null;
  }

  start() {
    if (this._abort) return;
    this._abort = new AbortController();
    this._follow(this._abort.signal);
  }

  stop() {
    this._abort?.abort();
    this._abort = null;
    clearTimeout(this._retry);
    this._set('off');
  }

  _set(mode) {
    if (mode !== this.mode) {
      this.mode = mode;
      this._status(mode);
    }
  }

  async _follow(signal) {
    try {
      const response = await request(`ws/v1/events/stream?count=${BEFORE}`, { signal });
      this.events = [];
      this._set('stream');
      await this._read(response.body.getReader());
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.kind === 'login') {
        this.stop();
        return;
      }
    }
    if (signal.aborted) return;
    this._set('polling');
    await this._poll(signal);
    this._retry = setTimeout(() => this._follow(signal), RETRY);
  }

  async _read(reader) {
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop();
      this._take(lines.filter((line) => line.trim()).map((line) => JSON.parse(line)));
    }
  }

  // Records; the first line of a stream and its end are none.
  _take(records) {
    const news = records.filter((each) => each.timestampNano);
    if (!news.length) return;
    this.events = [...this.events, ...news].slice(-KEPT);
    this._changed();
  }

  async _poll(signal) {
    try {
      const start = this._next ?? 0;
      let batch = await ask(`ws/v1/events/batch?count=${BEFORE}&start=${start}`, { signal });
      if (this._next === null || !batch.EventRecords) {
        const from = Math.max(batch.LowestID, batch.HighestID - BEFORE + 1);
        this.events = [];
        batch = await ask(`ws/v1/events/batch?count=${BEFORE}&start=${from}`, { signal });
        this._next = from;
      }
      this._next += batch.EventRecords?.length ?? 0;
      this._take(batch.EventRecords ?? []);
    } catch (error) {
      if (!signal.aborted && !(error instanceof Problem)) throw error;
    }
  }
}
