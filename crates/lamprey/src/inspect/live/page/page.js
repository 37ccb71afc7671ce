// The page of a program that runs: its frame. What is shown stands in the address behind `#`, so each view is a link:
// `#threads?search=pool&thread=7`. A view is `{ root, refresh(query, signal), once }`: it is made when it is first shown, and asked to refresh
// at each tick as long as it is shown; one with `once` only when it is opened, and when it `needs` to.

import { Refused, get } from './api.js';
import { el, keyed, say, set, time } from './dom.js';
import { details } from './details.js';
import { graph } from './graph.js';
import { groups } from './groups.js';
import { overview } from './overview.js';
import { scopes } from './scopes.js';
import { dump, recording, stuck } from './texts.js';
import { threads } from './threads.js';

const VIEWS = [
  ['overview', 'Overview', overview],
  ['groups', 'Groups', groups],
  ['threads', 'Threads', threads],
  ['graph', 'Graph', graph],
  ['stuck', 'Stuck', stuck],
  ['scopes', 'Scopes', scopes],
  ['recording', 'Recording', recording],
  ['dump', 'Dump', dump],
];
/** Of the time, the program is asked for a part of this size at most. */
const PART = 10;

const $ = (id) => document.getElementById(id);
const made = new Map();
/** What views share: the last summary, those before it, the one that is asked for, the way to another address, and how long to rest. */
const page = { summary: null, history: [], asked: null, go, link, rest, ask: () => tick() };
const side = details(page, $('details'));
let here = { view: 'overview', query: {} };
let paused = false;
let timer = 0;
let asking = new AbortController();

function link(view, query = {}) {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  return `#${view}${text && `?${text}`}`;
}

/** Shows the same view with other parts of its query, or another view. */
function go(query, view) {
  location.hash = link(view ?? here.view, view ? query : { ...here.query, ...query });
}

function route() {
  const [name, text] = location.hash.slice(1).split('?');
  const known = VIEWS.find(([one]) => one === name) ?? VIEWS[0];
  here = { view: known[0], query: Object.fromEntries(new URLSearchParams(text ?? '')) };
  if (!made.has(here.view)) made.set(here.view, known[2](page));
  const view = made.get(here.view);
  if (view.root.parentNode !== $('main')) {
    $('main').replaceChildren(view.root);
    view.isStale = true;
  }
  set($('main'), 'data-view', here.view);
  showTabs();
  showTitle();
  tick();
}

function showTabs() {
  const make = ([name, title]) => el('a', { href: link(name) }, el('span', { class: 'digit', 'aria-hidden': 'true' }, String(VIEWS.findIndex(([one]) => one === name) + 1)), title);
  keyed($('tabs'), VIEWS, ([name]) => name, make, (tab, [name]) => {
    const isHere = name === here.view;
    if (isHere && tab.getAttribute('aria-current') !== 'page') tab.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    set(tab, 'aria-current', isHere && 'page');
  });
}

/** Asks the program, shows what it answers, and comes again. */
async function tick() {
  clearTimeout(timer);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const view = made.get(here.view);
  const start = performance.now();
  try {
    const isWanted = !view.once || view.isStale || view.needs(here.query);
    page.asked = get('summary', {}, signal).then((answer) => (signal.aborted ? null : showSummary(answer)));
    // What a program does not tell it is not asked for.
    if (!page.summary) await page.asked;
    const untold = view.isTexts ? undefined : page.summary?.untold?.[here.view];
    await Promise.all([page.asked, !untold && isWanted && view.refresh(here.query, signal), side.refresh(here.query.thread, signal)]);
    if (signal.aborted) return;
    view.isStale = false;
    // For who measures how long it takes.
    performance.clearMarks();
    performance.mark(here.view);
    if (untold) showUntold(untold);
    else notice();
    showState(paused ? 'paused' : 'live');
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Refused)) console.error(error);
    failed(error);
  }
  if (!paused) timer = setTimeout(tick, Math.max(Number($('interval').value), rest(start)));
}

/** How long the program is left alone after a question that was asked at `start`, in milliseconds. */
function rest(start) {
  return (PART - 1) * (performance.now() - start);
}

function showSummary(summary) {
  const last = page.summary;
  if (last && (last.pid !== summary.pid || last.uptime_ns > summary.uptime_ns)) page.history = [];
  page.summary = summary;
  page.history.push({ at: performance.now(), summary });
  if (page.history.length > 61) page.history.shift();
  say($('program'), summary.program ?? summary.system);
  const parts = [summary.system, summary.version, `pid ${summary.pid}`, summary.uptime_ns && `up ${time(summary.uptime_ns)}`];
  say($('about'), parts.filter(Boolean).join(' · '));
  showTitle();
}

function showTitle() {
  const title = VIEWS.find(([name]) => name === here.view)[1];
  document.title = `${title}: ${page.summary?.program ?? 'Lamprey'}`;
}

function showState(state) {
  say($('state'), state);
  set($('state'), 'data-state', state);
  set(document.documentElement, 'data-state', state);
}

function notice(...content) {
  $('notice').hidden = content.length === 0;
  if (content.length) $('notice').replaceChildren(...content);
}

function showUntold(why) {
  notice(el('b', {}, 'This program does not tell that.'), el('span', {}, why));
}

function failed(error) {
  const retry = el('button', { type: 'button', onclick: () => tick() }, 'Try again');
  const status = error instanceof Refused ? error.status : -1;
  if (status === 0) {
    showState('gone');
    notice(el('b', {}, 'The program has ended or does not answer.'), el('span', {}, 'What you see is the last that it said.'), retry);
  } else if (status === 401 || status === 403) {
    showState('refused');
    notice(el('b', {}, 'The program does not accept this address.'), el('span', {}, error.message), retry);
  } else if (status === 404) {
    showState('live');
    showUntold(error.message);
  } else {
    showState('error');
    notice(el('b', {}, 'This could not be shown.'), el('span', {}, error.message), retry);
  }
}

function pause() {
  paused = !paused;
  set($('pause'), 'aria-pressed', paused);
  say($('pause'), paused ? 'Go on' : 'Pause');
  if (paused) {
    clearTimeout(timer);
    showState('paused');
  } else {
    tick();
  }
}

/** What the browser remembers of this page's user, if it may. */
const memory = {
  get: (key) => {
    try {
      return localStorage.getItem(`lamprey.${key}`);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      localStorage.setItem(`lamprey.${key}`, value);
    } catch {
      // Not this time.
    }
  },
};

function theme() {
  const now = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  set(document.documentElement, 'data-theme', next);
  memory.set('theme', next);
}

/** Moves the focus among the rows of the view. */
function move(by) {
  const view = made.get(here.view);
  if (view.move) return view.move(by);
  const rows = [...view.root.querySelectorAll('[data-row]')].filter((row) => row.checkVisibility());
  const at = rows.indexOf(document.activeElement?.closest('[data-row]'));
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  row?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

function search() {
  if (here.view !== 'threads') go({}, 'threads');
  // The view may have to be made first.
  requestAnimationFrame(() => setTimeout(() => document.querySelector('main input[type=search]')?.focus()));
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
  const isTyping = event.target.matches?.('input, select, textarea');
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur();
    else if (here.query.thread) go({ thread: '' });
    else $('main').focus();
    return;
  }
  if (isTyping) return;
  const acts = {
    '/': search, j: () => move(1), k: () => move(-1), p: pause, r: () => refresh(), t: theme, '?': () => $('keys').showModal(),
  };
  const digit = Number(event.key);
  const act = acts[event.key] ?? (digit >= 1 && digit <= VIEWS.length ? () => go({}, VIEWS[digit - 1][0]) : null);
  if (!act) return;
  event.preventDefault();
  act();
}

function refresh() {
  made.get(here.view).isStale = true;
  tick();
}

const wanted = memory.get('theme');
if (wanted === 'light' || wanted === 'dark') set(document.documentElement, 'data-theme', wanted);
const every = memory.get('interval');
if ([...$('interval').options].some((option) => option.value === every)) $('interval').value = every;
$('interval').addEventListener('change', () => {
  memory.set('interval', $('interval').value);
  tick();
});
$('pause').addEventListener('click', pause);
$('theme').addEventListener('click', theme);
$('help').addEventListener('click', () => $('keys').showModal());
$('skip').addEventListener('click', (event) => {
  event.preventDefault();
  $('main').focus();
});
document.addEventListener('keydown', key);
// A page that nobody sees asks nothing.
document.addEventListener('visibilitychange', () => (document.hidden ? clearTimeout(timer) : !paused && tick()));
addEventListener('hashchange', route);
route();
