// Markup: every text in a template becomes a text node, never markup.

import { h, render, Component, Fragment } from './vendor/preact.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { render, Component, Fragment };
