// One thread: what it waits for, for whom, and its stack. It lies beside each view.

import { Refused, get, getText } from './api.js';
import { el, named, plural, stackOf, time } from './dom.js';

export function details(page, box) {
  let shown = '';
  /** A thread's stack costs a look at all stacks: it is asked for a tenth of the time at most. */
  let due = 0;
  /** What led to where a thread is, as somebody has asked: kept until another one is shown. */
  let path = null;

  async function refresh(wanted, signal) {
    if (!wanted) {
      shown = '';
      box.hidden = true;
      return;
    }
    const isNew = wanted !== shown;
    if (!isNew && performance.now() < due) return;
    const [id, runtime] = wanted.split('@');
    if (path?.wanted !== wanted) path = null;
    if (isNew) show(id, el('p', { class: 'nothing' }, 'Asking for its stack …'));
    box.hidden = false;
    shown = wanted;
    const start = performance.now();
    try {
      const thread = await get(`thread/${encodeURIComponent(id)}`, { runtime }, signal);
      show(id, ...parts(page, thread), ...led(wanted));
    } catch (error) {
      if (signal.aborted) shown = '';
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      show(id, el('p', { class: 'nothing' }, 'It has ended, or has not started yet.'));
    }
    due = performance.now() + 9 * (performance.now() - start);
  }

  /** The heading, and a button or what it has brought; nothing of a program that does not tell. */
  function led(wanted) {
    if (page.summary?.untold?.recording) return [];
    const text = el('pre', { class: 'path', hidden: !path }, path?.text ?? '');
    const ask = async () => {
      const asked = { wanted, text: 'Asking …' };
      const say = (now) => {
        asked.text = now;
        if (path === asked) box.querySelector('.path')?.replaceChildren(now);
      };
      path = asked;
      text.hidden = false;
      button.textContent = 'Ask again';
      say(asked.text);
      const [thread, runtime] = wanted.split('@');
      try {
        say(await getText('recording', { format: 'why', thread, runtime }));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        say(error.message);
      }
    };
    const button = el('button', { type: 'button', class: 'why', onclick: ask }, path ? 'Ask again' : 'Show its critical path');
    return [el('h3', {}, 'What led to this'), button, text];
  }

  function show(id, ...content) {
    const at = box.scrollTop;
    const close = el('button', { type: 'button', class: 'close', 'aria-label': 'Close (Esc)', title: 'Close (Esc)', onclick: () => page.go({ thread: '' }) }, '×');
    const hadFocus = box.contains(document.activeElement);
    box.replaceChildren(close, ...(content[0].tagName === 'H2' ? [] : [el('h2', {}, `Thread ${id}`)]), ...content);
    box.scrollTop = at;
    if (hadFocus) close.focus();
  }

  return { refresh };
}

function parts(page, thread) {
  const facts = el('dl', { class: 'facts' });
  const fact = (name, ...values) => {
    if (values.length && values.every((value) => value !== null && value !== undefined && value !== '')) facts.append(el('dt', {}, name), el('dd', {}, ...values));
  };
  const link = (other, text) => el('a', { href: page.link(location.hash.slice(1).split('?')[0] || 'overview', { ...current(), thread: `${other}@${thread.runtime ?? 0}` }) }, text);
  fact('State', thread.reason ? `${thread.state}: ${thread.reason}` : thread.state);
  fact('For', thread.waiting_ns && time(thread.waiting_ns));
  fact('On', thread.on);
  for (const blocker of thread.blockers ?? []) fact('Held up by', link(blocker.id, blocker.name || `thread ${blocker.id}`), ` ${blocker.why ?? ''}`);
  fact('Kind', thread.kind);
  fact('Id', thread.id);
  fact('Spawned at', thread.site);
  fact('Spawned by', thread.parent);
  fact('Scope', thread.scope);
  fact('Worker', thread.worker === null || thread.worker === undefined ? null : String(thread.worker));
  const stack = thread.stack?.length ? stackOf(thread.stack) : el('p', { class: 'nothing' }, thread.kind === 'parasite' ? 'It has no stack while it waits.' : 'Its stack could not be read.');
  const title = thread.count > 1 ? plural(thread.count, 'parasite') : named(thread);
  return [el('h2', {}, title), facts, el('h3', {}, thread.stack?.length ? `Stack, ${plural(thread.stack.length, 'call')}` : 'Stack'), stack];
}

function current() {
  return Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''));
}
