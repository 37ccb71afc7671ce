// What is shown as text: the list of what is stuck, the recording, the dump.

import { address, get, getText } from './api.js';
import { el, plural, say, set, time } from './dom.js';

export function stuck() {
  const about = el('p', { class: 'about', role: 'status' });
  const list = el('ol', { class: 'cards' });
  const root = el('div', { class: 'view' }, el('div', { class: 'bar-of-view' }, about), list);
  let drawn = '';

  async function refresh(_query, signal) {
    const { stuck: found } = await get('stuck', {}, signal);
    say(about, found.length ? `${plural(found.length, 'finding')}. Certain: nothing in the program can end it. Possible: it may wait for ever, or for long.` : '');
    const text = JSON.stringify(found);
    // The text stays as it is, so that it can be selected.
    if (text === drawn) return;
    drawn = text;
    const cards = found.map((one) => el('li', { class: 'card', 'data-class': one.class, tabindex: '0', 'data-row': true }, el('span', { class: 'pill', 'data-class': one.class }, one.class), el('pre', {}, one.text)));
    list.replaceChildren(...(cards.length ? cards : [el('li', { class: 'nothing' }, 'No threads wait for each other for ever.')]));
  }

  return { root, refresh };
}

/** A view of texts that are asked for when it is opened, or by a button: `[key, title, path, query, ending]`. */
function text(page, kinds, links) {
  const choices = kinds.map(([key, title]) => el('button', { type: 'button', onclick: () => page.go({ text: key === kinds[0][0] ? '' : key }) }, title));
  const again = el('button', { type: 'button', title: 'Ask again (r)', onclick: () => ask() }, 'Ask again');
  const copy = el('button', { type: 'button', onclick: () => copyAll() }, 'Copy');
  const save = el('a', { class: 'button', download: true }, 'Download');
  const about = el('p', { class: 'about', role: 'status' });
  const output = el('pre', { class: 'text', tabindex: '0' });
  const segments = kinds.length > 1 && el('div', { class: 'segments', role: 'group', 'aria-label': 'What' }, ...choices);
  const root = el('div', { class: 'view fills' }, el('div', { class: 'bar-of-view' }, segments, again, copy, save, ...links, about), output);
  let shown = null;
  let last = {};

  async function refresh(query, signal) {
    last = query;
    const kind = kinds.find(([key]) => key === query.text) ?? kinds[0];
    const [key, , path, parameters, ending] = kind;
    choices.forEach((choice, i) => set(choice, 'aria-pressed', kinds[i] === kind));
    set(save, 'href', address(path, parameters));
    set(save, 'download', `${page.summary?.program ?? 'lamprey'}-${key}.${ending}`);
    if (shown !== key) output.textContent = '';
    const untold = page.summary?.untold?.[path];
    for (const other of [copy, save, ...links]) other.hidden = Boolean(untold);
    if (untold) {
      say(about, '');
      output.textContent = untold;
      shown = key;
      return;
    }
    const start = performance.now();
    say(about, 'asking …');
    try {
      output.textContent = await getText(path, parameters, signal);
      say(about, `at ${new Date().toLocaleTimeString('en-GB')}, in ${time((performance.now() - start) * 1e6)}`);
      shown = key;
    } catch (error) {
      if (signal?.aborted || !error.status) throw error;
      say(about, '');
      output.textContent = error.message;
    }
  }

  async function ask() {
    try {
      await refresh(last);
    } catch (error) {
      say(about, error.message);
    }
  }

  async function copyAll() {
    try {
      await navigator.clipboard.writeText(output.textContent);
      say(about, 'copied');
    } catch {
      getSelection().selectAllChildren(output);
      say(about, 'selected: copy it with the keyboard');
    }
  }

  return { root, refresh, once: true, isTexts: true, needs: (query) => (kinds.find(([key]) => key === query.text) ?? kinds[0])[0] !== shown };
}

export function recording(page) {
  const link = (title, format, ending, hint) => el('a', { class: 'button', href: address('recording', { format }), download: `recording.${ending}`, title: hint }, title);
  return text(page, [['recording', 'Recording', 'recording', { format: 'text' }, 'txt']], [
    link('For Perfetto', 'perfetto', 'json', 'Open it at ui.perfetto.dev'),
    link('For dial9', 'dial9', 'dial9', 'Open it with dial9'),
  ]);
}

export function dump(page) {
  return text(page, [
    ['dump', 'Threads', 'dump', {}, 'txt'],
    ['stacks', 'Sizes of stacks', 'stacks', {}, 'txt'],
    ['metrics', 'Metrics', 'metrics', {}, 'prom'],
  ], []);
}
