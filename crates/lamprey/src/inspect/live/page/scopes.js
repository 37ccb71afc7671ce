// The tree of scopes: who was started within what. Many children of one site are one node with their number.

import { get } from './api.js';
import { count, el, keyed, say, set, tail, threadOf } from './dom.js';

/** How deep the tree is open at first. */
const OPEN = 3;

export function scopes(page) {
  const list = el('ul', { class: 'tree', 'aria-label': 'Scopes and their threads' });
  const nothing = el('p', { class: 'nothing', hidden: true }, 'There are no scopes.');
  const root = el('div', { class: 'view' }, nothing, list);

  async function refresh(_query, signal) {
    const { roots } = await get('scopes', {}, signal);
    nothing.hidden = roots.length > 0;
    fill(page, list, roots, 0);
  }

  return { root, refresh };
}

function fill(page, list, nodes, depth) {
  // The same site may be there more than once.
  const times = new Map();
  const keys = new Map(nodes.map((node) => {
    const name = `${node.kind} ${node.count === 1 ? node.id : ''} ${node.site ?? ''} ${node.children?.length > 0}`;
    times.set(name, (times.get(name) ?? 0) + 1);
    return [node, `${name} ${times.get(name)}`];
  }));
  keyed(list, nodes, (node) => keys.get(node), (node) => make(page, node, depth), (item, node) => {
    const [kind, name, site, number] = item.querySelector('.line').children;
    say(kind, node.kind);
    say(name, node.name || (threadOf(node) && node.count === 1 ? `${node.kind} ${threadOf(node).split('@')[0]}` : ''));
    say(site, node.site ? tail(node.site) : '');
    set(site, 'title', node.site);
    say(number, node.count > 1 && node.kind !== 'runtime' ? `× ${count(node.count)}` : '');
    const below = item.querySelector('ul');
    if (below) fill(page, below, node.children, depth + 1);
  });
}

function make(page, node, depth) {
  const hasChildren = node.children?.length > 0;
  const thread = node.count === 1 ? threadOf(node) : '';
  const href = thread ? page.link('scopes', { thread }) : node.site && page.link('threads', { search: node.site });
  const spans = [el('span', { class: 'kind', 'data-kind': node.kind }), el(hasChildren && thread ? 'a' : 'span', { class: 'what', href: hasChildren && thread && href }), el('span', { class: 'site' }), el('span', { class: 'number' })];
  if (hasChildren) return el('li', {}, el('details', { open: depth < OPEN }, el('summary', { class: 'line', 'data-row': true }, ...spans), el('ul', {})));
  return el('li', {}, el('a', { class: 'line', href, 'data-row': true }, ...spans));
}
