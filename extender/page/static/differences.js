// What differs between two queue documents, by path and value. Comments and the order of queues mean nothing.

import { load, JSON_SCHEMA } from './vendor/js-yaml.js';

const MOST = 500;
const WRITTEN_FOR_PEOPLE = new Set(['checksum', 'extra', 'deadlockdetectionenabled', 'deadlocktimeoutseconds']);

// {rows: [{where, before, after}]}, or {problem: text} for what cannot be read.
export function differences(before, after) {
  let values;
  try {
    values = [before, after].map((text) => leaves(load(text, { schema: JSON_SCHEMA })));
  } catch (error) {
    return { problem: `The documents cannot be compared: ${error.reason ?? error.message}` };
  }
  const [old, present] = values;
  const places = [...new Set([...old.keys(), ...present.keys()])].sort();
  const rows = places
    .map((where) => ({ where, before: old.get(where), after: present.get(where) }))
    .filter((row) => row.before !== row.after);
  return { rows: rows.slice(0, MOST) };
}

// Each value that is set, by its place. Queues are named by their path, other entries by their number.
function leaves(document) {
  const found = new Map();
  visit(document, [], found);
  return found;
}

function visit(value, place, found) {
  if (Array.isArray(value)) {
    value.forEach((each, at) => visit(each, [...place, nameOf(each, at)], found));
  } else if (value !== null && typeof value === 'object') {
    for (const [key, each] of Object.entries(value)) {
      const name = key.toLowerCase();
      if (WRITTEN_FOR_PEOPLE.has(name) && place.length === 0) continue;
      if (name !== 'name' || place.length === 0) visit(each, [...place, name], found);
    }
  } else if (value !== null && value !== undefined && value !== '' && value !== false) {
    found.set(place.join('.'), String(value));
  }
}

const nameOf = (each, at) => (each && typeof each === 'object' && typeof (each.name ?? each.Name) === 'string' ? each.name ?? each.Name : String(at));
