// The program at a glance: how many threads, what they wait for, what the workers do, how much happens.

import { get } from './api.js';
import { count, el, keyed, plural, say, set, short, tail, time } from './dom.js';

/** Counters whose rates are shown, if the program has them: their names in `stats`, and what they are called. */
const RATES = [
  ['communications', 'Messages', 'values that went from one thread to another'],
  ['hosts', 'Hosts spawned', 'hosts that were created'],
  ['stackless', 'Parasites started', 'parasites without a stack of their own'],
  ['reified', 'Parasites blocked', 'parasites that shrank to an object'],
  ['sent', 'Wakes across workers', 'threads woken by another worker'],
  ['stolen', 'Steals', 'hosts that an idle worker took over'],
  ['sleeps', 'Sleeps of workers', 'times that a worker had nothing to do'],
  ['unmounts', 'Blocks', 'threads that left their carrier'],
];
const WIDTH = 132;
const HEIGHT = 30;
/** How often the program is asked for threads that are stuck, in milliseconds: that takes two looks at all of them. */
const STUCK_EVERY = 5000;

export function overview(page) {
  const alarm = el('a', { class: 'alarm', href: page.link('stuck'), hidden: true });
  const tiles = el('div', { class: 'tiles', role: 'list', 'aria-label': 'Numbers' });
  const reasons = el('ol', { class: 'bars' });
  const workers = el('div', { class: 'workers' });
  const sites = el('ol', { class: 'bars' });
  const root = el('div', { class: 'view overview' },
    alarm,
    tiles,
    el('section', {}, el('h2', {}, 'What they wait for'), reasons),
    el('section', {}, el('h2', {}, 'Workers'), workers),
    el('section', { class: 'wide' }, el('h2', {}, 'Busiest spawn sites'), sites));
  let isLooking = false;
  let lookAt = 0;

  async function refresh(_query, signal) {
    const [{ groups }] = await Promise.all([get('groups', {}, signal), page.asked]);
    if (signal.aborted) return;
    showTiles(tiles, page.history);
    showReasons(page, reasons, page.summary, groups);
    showWorkers(page, workers, page.summary);
    showSites(page, sites, groups);
    // The rest does not wait for that. If there is no answer, the next tick says why.
    lookForStuck().catch(() => {});
  }

  /** One at a time, also if the view is left meanwhile: the program goes on with an answer for which nobody waits any more. */
  async function lookForStuck() {
    const start = performance.now();
    if (isLooking || start < lookAt) return;
    isLooking = true;
    let found;
    try {
      found = (await get('stuck')).stuck;
    } finally {
      isLooking = false;
      lookAt = Math.max(start + STUCK_EVERY, performance.now() + page.rest(start));
    }
    const certain = found.filter((one) => one.class === 'certain').length;
    alarm.hidden = found.length === 0;
    set(alarm, 'data-class', certain ? 'certain' : 'possible');
    alarm.replaceChildren(el('b', {}, certain ? `${plural(certain, 'deadlock')}: threads wait for each other` : `${plural(found.length, 'wait')} may never end`), ' Show what is stuck');
  }

  return { root, refresh };
}

/** All tiles: numbers of now, then rates. Each has a line of the last minute. */
function showTiles(tiles, history) {
  const { summary } = history.at(-1);
  const all = [
    { name: 'Threads', value: count(summary.threads), note: summary.hosts === undefined ? undefined : `${plural(summary.hosts, 'host')}, ${plural(summary.parasites ?? 0, 'parasite')}`, points: history.map((one) => one.summary.threads) },
    ...['running', 'ready', 'waiting'].map((state) => ({
      name: state[0].toUpperCase() + state.slice(1), value: count(summary.states?.[state] ?? 0), state, points: history.map((one) => one.summary.states?.[state] ?? 0),
    })),
  ];
  for (const [counter, name, hint] of RATES) {
    if (total(summary, counter) === undefined) continue;
    const points = rates(history, counter);
    if (points.length && points.every((rate) => rate === 0) && total(summary, counter) === 0) continue;
    all.push({ name, hint, value: points.length ? short(points.at(-1)) : '–', unit: '/s', points });
  }
  const make = ({ name, hint, state }) => el('div', { class: 'tile', role: 'listitem', title: hint, 'data-state': state },
    el('span', { class: 'name' }, name), el('span', { class: 'value' }, el('b'), el('small')),
    el('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, el('path', { class: 'area' }), el('polyline')),
    el('span', { class: 'note' }));
  keyed(tiles, all, (tile) => tile.name, make, (node, { value, unit, note, points }) => {
    say(node.querySelector('b'), value);
    say(node.querySelector('small'), unit ?? '');
    const most = Math.max(...points, 0);
    say(node.querySelector('.note'), note ?? (unit ? `most ${short(most)}/s` : `most ${count(most)}`));
    draw(node.querySelector('svg'), points, most);
  });
}

function total(summary, counter) {
  let sum;
  for (const { stats } of summary.runtimes ?? []) {
    if (typeof stats?.[counter] === 'number') sum = (sum ?? 0) + stats[counter];
  }
  return sum;
}

/** The differences of a counter, a second. */
function rates(history, counter) {
  return history.slice(1).map((now, i) => {
    const before = history[i];
    const seconds = Math.max((now.at - before.at) / 1000, 0.001);
    return Math.max(0, ((total(now.summary, counter) ?? 0) - (total(before.summary, counter) ?? 0)) / seconds);
  });
}

function draw(svg, points, most) {
  const step = WIDTH / 60;
  const left = WIDTH - (points.length - 1) * step;
  const at = points.map((value, i) => `${(left + i * step).toFixed(1)},${(HEIGHT - 1.5 - (most ? value / most : 0) * (HEIGHT - 4)).toFixed(1)}`);
  set(svg.lastChild, 'points', at.length > 1 ? at.join(' ') : '');
  set(svg.firstChild, 'd', at.length > 1 ? `M${left.toFixed(1)},${HEIGHT}L${at.join('L')}L${WIDTH},${HEIGHT}Z` : '');
}

/** Rows with a bar: `[key, title, hint, href, number, note]`. */
function showBars(list, rows, nothing) {
  const most = Math.max(...rows.map((row) => row.number), 1);
  if (rows.length === 0) {
    list.replaceChildren(el('li', { class: 'nothing' }, nothing));
    list.keyed = undefined;
    return;
  }
  const make = () => el('li', {}, el('a', { 'data-row': true }, el('span', { class: 'bar' }), el('span', { class: 'what' }), el('span', { class: 'note' }), el('span', { class: 'number' })));
  keyed(list, rows, (row) => row.key, make, (node, { title, hint, href, number, note }) => {
    const anchor = node.firstChild;
    set(anchor, 'href', href);
    set(anchor, 'title', hint);
    const [bar, what, small, amount] = anchor.children;
    bar.style.setProperty('--part', number / most);
    say(what, title);
    say(small, note ?? '');
    say(amount, count(number));
  });
}

function showReasons(page, list, summary, groups) {
  const oldest = new Map();
  for (const { reason, oldest_ns } of groups) oldest.set(reason, Math.max(oldest.get(reason) ?? 0, oldest_ns ?? 0));
  const rows = (summary.reasons ?? []).map(({ reason, count: number }) => ({
    key: reason, title: reason, number, href: page.link('threads', { search: reason }), note: oldest.get(reason) ? `longest ${time(oldest.get(reason))}` : '',
  }));
  showBars(list, rows, 'No thread waits.');
}

function showSites(page, list, groups) {
  const sites = new Map();
  for (const group of groups) {
    const site = sites.get(group.site) ?? { number: 0, kinds: new Set() };
    site.number += group.count;
    site.kinds.add(group.kind);
    sites.set(group.site, site);
  }
  const rows = [...sites].sort((a, b) => b[1].number - a[1].number).slice(0, 12).map(([site, { number, kinds }]) => ({
    key: site ?? '', title: tail(site), hint: site, number, href: page.link('threads', { search: site }), note: [...kinds].join(', '),
  }));
  showBars(list, rows, 'There are no threads.');
}

function showWorkers(page, box, summary) {
  const several = (summary.runtimes ?? []).length > 1;
  const all = (summary.runtimes ?? []).flatMap((runtime) => runtime.workers.map((worker) => ({ runtime, worker })));
  const make = () => el('div', { class: 'worker' }, el('span', { class: 'id' }), el('a', { class: 'runs' }), el('span', { class: 'held' }), el('span', { class: 'queue' }), el('span', { class: 'living' }));
  keyed(box, all, ({ runtime, worker }) => `${runtime.id}.${worker.id}`, make, (node, { runtime, worker }) => {
    const [id, runs, held, queue, living] = node.children;
    say(id, several ? `${runtime.id}.${worker.id}` : String(worker.id));
    const { running } = worker;
    set(runs, 'href', running && page.link('threads', { thread: `${running.id}@${runtime.id}` }));
    set(runs, 'data-row', running ? '' : null);
    say(runs, running ? running.name || `thread ${running.id}` : 'idle');
    say(held, running && worker.held_ns ? `for ${time(worker.held_ns)}` : '');
    set(held, 'data-long', worker.held_ns > 1e8 && '');
    say(queue, `${count(worker.ready)} ready`);
    say(living, worker.living === undefined ? '' : `${count(worker.living)} living`);
    set(node, 'data-idle', running ? null : '');
  });
}
