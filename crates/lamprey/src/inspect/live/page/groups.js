// Threads that wait for the same in the same way, counted; each can be opened to its stack and its threads.

import { get } from './api.js';
import { count, el, keyed, named, plural, say, set, stackOf, tail, time } from './dom.js';

/** How many threads of a group are listed at a time. */
const PIECE = 20;
const ORDERS = {
  count: (a, b) => b.count - a.count,
  age: (a, b) => (b.oldest_ns ?? -1) - (a.oldest_ns ?? -1),
};

export function groups(page) {
  const sorts = Object.entries({ count: 'Number', age: 'Age' }).map(([order, title]) => el('button', { type: 'button', 'data-order': order, onclick: () => page.go({ sort: order }) }, title));
  const about = el('p', { class: 'about' });
  const missing = el('ul', { class: 'missing' });
  const head = el('div', { class: 'groups-head', 'aria-hidden': 'true' }, ...['Number', 'Kind', 'Waits for', 'Spawned at', 'Names', 'Longest'].map((title) => el('span', {}, title)));
  const list = el('ol', { class: 'groups' });
  const root = el('div', { class: 'view' },
    el('div', { class: 'bar-of-view' }, el('div', { class: 'segments', role: 'group', 'aria-label': 'Order' }, ...sorts), about),
    missing, head, list);

  async function refresh(query, signal) {
    const answer = await get('groups', {}, signal);
    const order = ORDERS[query.sort] ? query.sort : 'count';
    for (const sort of sorts) set(sort, 'aria-pressed', sort.dataset.order === order);
    say(about, `${plural(answer.threads, 'thread')} in ${plural(answer.groups.length, 'group')}, looked at in ${time(answer.took_ns)}`);
    missing.replaceChildren(...(answer.missing ?? []).map((text) => el('li', {}, text)), ...(answer.more ? [el('li', {}, `${plural(answer.more, 'smaller group')} not shown`)] : []));
    const sorted = answer.groups.toSorted(ORDERS[order]);
    keyed(list, sorted, (group) => group.key, (group) => makeGroup(page, group), fillGroup);
    const open = query.group && list.keyed.get(query.group);
    if (open && !open.wasOpened) {
      open.wasOpened = true;
      open.querySelector('details').open = true;
      open.scrollIntoView({ block: 'nearest' });
    }
  }

  return { root, refresh };
}

function makeGroup(page, group) {
  const body = el('div', { class: 'group-body' });
  const box = el('details', {},
    el('summary', { 'data-row': true },
      el('span', { class: 'number' }), el('span', { class: 'kind' }), el('span', { class: 'what' }), el('span', { class: 'site' }), el('span', { class: 'names' }), el('span', { class: 'age' })),
    body);
  const node = el('li', {}, box);
  box.addEventListener('toggle', () => {
    if (box.open) fillBody(page, node, body, node.group);
    else body.replaceChildren();
  });
  node.group = group;
  return node;
}

function fillGroup(node, group) {
  node.group = group;
  const [number, kind, what, site, names, age] = node.firstChild.firstChild.children;
  say(number, count(group.count));
  say(kind, group.kind);
  say(what, group.reason ?? group.state);
  set(what, 'data-state', group.state);
  say(site, tail(group.site));
  set(site, 'title', group.site);
  say(names, group.names.join(', '));
  say(age, group.oldest_ns === null || group.oldest_ns === undefined ? '' : time(group.oldest_ns));
}

function fillBody(page, node, body, group) {
  const facts = el('dl', { class: 'facts' });
  const fact = (name, value) => value && facts.append(el('dt', {}, name), el('dd', {}, value));
  fact('State', group.reason ? `${group.state}: ${group.reason}` : group.state);
  fact('Spawned at', group.site);
  fact('On', group.on);
  fact('Held up by', (group.blockers ?? []).join('; '));
  fact('Workers', (group.workers ?? []).join(', '));
  const threads = el('ol', { class: 'of-group' });
  const more = el('button', { type: 'button', onclick: () => next() }, 'More');
  const all = el('a', { href: page.link('threads', { group: group.key }) }, 'All in the list of threads');
  const stack = group.stack?.length ? [el('h3', {}, 'Stack of one of them'), stackOf(group.stack)] : [];
  body.replaceChildren(facts, ...stack, el('h3', {}, 'Threads'), threads, el('p', { class: 'more' }, more, all));
  let offset = 0;
  async function next() {
    more.disabled = true;
    try {
      const answer = await get('threads', { group: group.key, offset, limit: PIECE });
      offset += answer.threads.length;
      threads.append(...answer.threads.map((thread) => el('li', {}, el('a', { href: threadLink(page, group, thread), 'data-row': true }, el('span', { class: 'what' }, thread.count > 1 ? `${plural(thread.count, 'parasite')} without a name` : named(thread)), el('span', { class: 'age' }, time(thread.waiting_ns))))));
      more.hidden = offset >= answer.total || answer.threads.length === 0;
      say(more, `${Math.min(PIECE, answer.total - offset)} more of ${count(answer.total)}`);
    } catch (error) {
      threads.append(el('li', { class: 'nothing' }, error.message));
    }
    more.disabled = false;
  }
  next();
}

function threadLink(page, group, thread) {
  return page.link('groups', { group: group.key, thread: `${thread.id}@${thread.runtime ?? 0}` });
}
