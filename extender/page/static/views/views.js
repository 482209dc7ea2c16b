// All views by the first part of the address.

import { html } from '../html.js';
import { Link } from '../parts.js';
import * as application from './application.js';
import * as applications from './applications.js';
import * as configuration from './configuration.js';
import * as events from './events.js';
import * as node from './node.js';
import * as nodes from './nodes.js';
import * as overview from './overview.js';
import * as preemptions from './preemptions.js';
import * as queue from './queue.js';
import * as queues from './queues.js';
import * as usage from './usage.js';
import * as why from './why.js';

const missing = {
  title: () => 'No such view',
  load: async () => ({}),
  Show: () => html`<p>There is no view of this name. <${Link} view="overview">Go to the overview</${Link}>.</p>`,
};

export const VIEWS = Object.assign(Object.create(null), {
  overview, queues, queue, applications, application, why, usage, nodes, node, preemptions, events, configuration, missing,
});

// Name, label, and the views that belong to it.
export const NAVIGATION = [
  ['overview', 'Overview', []],
  ['queues', 'Queues', ['queue']],
  ['applications', 'Applications', ['application', 'why']],
  ['usage', 'Users and groups', []],
  ['nodes', 'Nodes', ['node']],
  ['preemptions', 'Preemptions', []],
  ['events', 'Events', []],
  ['configuration', 'Configuration', []],
];
