// All threads, or those that a search finds, in a list that has only those rows that are seen: it scrolls as well with 100,000.
// Pieces of it are asked for when they come into sight; what is out of date is asked for again at each tick.

import { get } from './api.js';
import { count, el, named, plural, say, set, tail, time } from './dom.js';

/** Rows in a piece. */
const PIECE = 250;
/** How many pieces are kept. */
const KEPT = 20;
/** The most rows that are listed: a page may not be higher than some ten million pixels. */
const MOST = 300_000;
/** The least time between two pieces that a scroll asks for, in milliseconds. The program is asked for half of the time at most. */
const REST = 60;

export function threads(page) {
  const field = el('input', { type: 'search', placeholder: 'Name, id, kind, state, reason, site', title: 'Threads that have this text in their name, kind, state, reason, spawn site or what they wait on; or that have this number', 'aria-label': 'Search for threads', autocomplete: 'off', spellcheck: 'false' });
  const chip = el('a', { class: 'chip', hidden: true, title: 'Show all threads' });
  const about = el('p', { class: 'about', role: 'status' });
  const space = el('div', { class: 'space' });
  const box = el('div', { class: 'list', role: 'list', 'aria-label': 'Threads', tabindex: '-1' }, space);
  const head = el('div', { class: 'head', 'aria-hidden': 'true' }, ...['Thread', 'Kind', 'Waits for', 'For', 'Spawned at', 'Worker'].map((title) => el('span', {}, title)));
  const root = el('div', { class: 'view fills' },
    el('div', { class: 'bar-of-view' }, field, chip, about),
    head,
    box);

  let query = {};
  let total = 0;
  let height = 0;
  let pieces = new Map();
  let stale = new Set();
  let asked = null;
  let isAsking = false;
  let typing = 0;
  const rows = [];

  async function refresh(now, signal) {
    if (now.search !== query.search || now.group !== query.group) {
      asked?.abort();
      pieces = new Map();
      box.scrollTop = 0;
    }
    query = now;
    if (document.activeElement !== field) field.value = query.search ?? '';
    chip.hidden = !query.group;
    set(chip, 'href', page.link('threads', { search: query.search }));
    say(chip, 'one group ×');
    stale = new Set(pieces.keys());
    const first = seen().first;
    await fetchPiece(Math.floor(first / PIECE), signal);
    const last = Math.floor(seen().last / PIECE);
    if (last !== Math.floor(first / PIECE) && last * PIECE < total) await fetchPiece(last, signal);
  }

  /** Asks for a piece, and shows it. */
  async function fetchPiece(number, signal) {
    const answer = await get('threads', { group: query.group, search: query.search, offset: number * PIECE, limit: PIECE }, signal);
    if (signal.aborted) return;
    pieces.delete(number);
    pieces.set(number, answer.threads);
    stale.delete(number);
    if (pieces.size > KEPT) pieces.delete(pieces.keys().next().value);
    total = Math.min(answer.total, MOST);
    const what = query.search || query.group ? 'found' : '';
    say(about, answer.total > MOST ? `${plural(answer.total, 'thread')}, the first ${count(MOST)} are listed: search for others` : `${plural(answer.total, 'thread')} ${what}`);
    measure();
    paint();
  }

  /** The height of a row is the style's: it has two lines on a phone. */
  function measure() {
    height = parseFloat(getComputedStyle(box).getPropertyValue('--row')) || 30;
    space.style.height = `${total * height}px`;
    head.style.paddingRight = `${12 + box.offsetWidth - 2 - box.clientWidth}px`;
  }

  function seen() {
    if (!height) measure();
    const first = Math.max(0, Math.floor(box.scrollTop / height));
    return { first, last: Math.min(total, first + Math.ceil(box.clientHeight / height) + 1) };
  }

  /** Puts the rows that are seen where they belong. An element is used again for each row with the same remainder. */
  function paint() {
    const { first, last } = seen();
    const from = Math.max(0, first - 4);
    const to = Math.min(total, last + 4);
    const wanted = to - from;
    while (rows.length < wanted) rows.push(makeRow());
    // All elements are used, or else a focus would be lost while others come and go.
    const size = rows.length;
    for (let at = from; at < from + size; at++) {
      const row = rows[at % size];
      if (at < to) fill(row, at);
      else if (row.parentNode) row.remove();
    }
  }

  function makeRow() {
    return el('a', { class: 'thread', role: 'listitem' }, el('span', { class: 'what' }), el('span', { class: 'kind' }), el('span', { class: 'reason' }), el('span', { class: 'age' }), el('span', { class: 'site' }), el('span', { class: 'worker' }));
  }

  function fill(row, at) {
    const thread = pieces.get(Math.floor(at / PIECE))?.[at % PIECE];
    if (row.at !== at) {
      row.at = at;
      row.style.transform = `translateY(${at * height}px)`;
      set(row, 'aria-posinset', at + 1);
    }
    if (!row.parentNode) space.append(row);
    set(row, 'aria-setsize', total);
    if (row.thread === thread && thread) return;
    row.thread = thread;
    const [name, kind, reason, age, site, worker] = row.children;
    set(row, 'data-empty', thread ? null : '');
    set(row, 'href', thread && page.link('threads', { search: query.search, group: query.group, thread: `${thread.id}@${thread.runtime ?? 0}` }));
    say(name, !thread ? '…' : thread.count > 1 ? plural(thread.count, 'parasite') : named(thread));
    say(kind, thread?.kind ?? '');
    say(reason, thread ? thread.reason ?? thread.state : '');
    set(reason, 'data-state', thread?.state);
    say(age, thread?.waiting_ns ? time(thread.waiting_ns) : '');
    say(site, thread ? tail(thread.site) : '');
    set(site, 'title', thread?.site);
    say(worker, thread && thread.worker !== null && thread.worker !== undefined ? String(thread.worker) : '');
  }

  /** A piece that is seen, or soon will be, and is not there. */
  function lacking() {
    const { first, last } = seen();
    const of = (row) => Math.floor(Math.min(Math.max(row, 0), Math.max(total - 1, 0)) / PIECE);
    const seenNow = [of(first), of(last - 1)].find((number) => !pieces.has(number) || stale.has(number));
    return seenNow ?? [of(last + PIECE / 2), of(first - PIECE / 2)].find((number) => !pieces.has(number));
  }

  /** Asks for what a scroll brings into sight, one piece after the other, until nothing is lacking. */
  async function complete() {
    if (isAsking) return;
    isAsking = true;
    const mine = (asked = new AbortController());
    try {
      for (let number = lacking(); number !== undefined && root.isConnected; number = lacking()) {
        const start = performance.now();
        await fetchPiece(number, mine.signal);
        if (mine.signal.aborted) break;
        await new Promise((done) => setTimeout(done, Math.max(REST, performance.now() - start)));
      }
    } catch {
      // The next tick says why.
    }
    isAsking = false;
  }

  let isDue = false;
  box.addEventListener('scroll', () => {
    complete();
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      paint();
    });
  }, { passive: true });
  new ResizeObserver(() => {
    measure();
    for (const row of rows) row.at = -1;
    paint();
  }).observe(box);

  field.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => page.go({ search: field.value.trim(), thread: '' }), 150);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === 'ArrowDown') {
      event.preventDefault();
      field.blur();
      focus(seen().first);
    }
  });

  /** Moves the focus to a row, which may have to come into sight first. */
  function focus(at) {
    if (total === 0) return;
    const to = Math.min(Math.max(at, 0), total - 1);
    const top = to * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    paint();
    rows.find((row) => row.at === to && row.parentNode)?.focus({ preventScroll: true });
  }

  function move(by) {
    const now = document.activeElement?.at;
    focus(Number.isInteger(now) && box.contains(document.activeElement) ? now + by : seen().first);
  }

  return { root, refresh, move };
}
