// Making and changing elements. Data of the program gets into the page as text and attributes only, never as HTML: names of
// threads are chosen by whoever talks to the program.

const SVG = 'http://www.w3.org/2000/svg';
const IN_SVG = new Set(['svg', 'g', 'path', 'circle', 'polyline', 'line', 'rect', 'text', 'title', 'defs', 'marker']);

/** An element. `on…` attributes are listeners, `style` is an object, false and undefined leave an attribute out. */
export function el(tag, attributes = {}, ...children) {
  const node = IN_SVG.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/** Sets the text of an element, if it is another one: a selection in it stays otherwise. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets or removes an attribute. */
export function set(node, name, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Makes the children of `parent` those of `items`, in their order; a child stays as long as there is an item with its key. */
export function keyed(parent, items, keyOf, make, fill) {
  const old = parent.keyed ?? new Map();
  const now = new Map();
  let at = parent.firstChild;
  for (const item of items) {
    const key = keyOf(item);
    if (now.has(key)) continue;
    const node = old.get(key) ?? make(item);
    fill(node, item);
    now.set(key, node);
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
  parent.keyed = now;
}

export function count(number) {
  return number === undefined || number === null ? '–' : Math.round(number).toLocaleString('en-US');
}

/** A rate or other small number: `0.4`, `12`, `3.4k`, `1.2M`. */
export function short(number) {
  if (number >= 999_950) return `${(number / 1e6).toFixed(1)}M`;
  if (number >= 9_999.5) return `${(number / 1e3).toFixed(0)}k`;
  if (number >= 999.5) return `${(number / 1e3).toFixed(1)}k`;
  return number >= 9.95 || number === 0 ? number.toFixed(0) : number.toFixed(1);
}

/** A length of time in nanoseconds: `12 µs`, `1.2 s`, `3 min 20 s`. */
export function time(ns) {
  if (ns === undefined || ns === null) return '–';
  const s = ns / 1e9;
  if (s < 1e-6) return `${ns} ns`;
  if (s < 1e-3) return `${(s * 1e6).toFixed(s < 1e-5 ? 1 : 0)} µs`;
  if (s < 0.9995) return `${(s * 1e3).toFixed(s < 1e-2 ? 1 : 0)} ms`;
  if (s < 59.95) return `${s.toFixed(s < 9.95 ? 1 : 0)} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** The end of a path, which tells most, for narrow columns; the whole belongs into a `title`. */
export function tail(site) {
  return site ? site.split('/').slice(-2).join('/') : 'unknown site';
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** The name of a thread, or what else it is called by. */
export function named(thread) {
  return thread.name || `${thread.kind ?? 'thread'} ${thread.id}`;
}

/** The thread that a node `t1-7` or `7` is, as `thread` in the page's address: `7@1`, `7@0`. */
export function threadOf(node) {
  const [, runtime, id] = /^(?:t(\d+)-)?(\d+)$/.exec(node.id ?? '') ?? [];
  return id && id !== '0' ? `${id}@${runtime ?? 0}` : '';
}

/** The calls of a stack, the innermost first: frames, or lines of text. */
export function stackOf(frames) {
  const one = (frame) => {
    if (typeof frame === 'string') return el('li', {}, frame);
    const at = frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : '';
    return el('li', {}, el('b', {}, frame.function ?? '?'), at && el('span', {}, at));
  };
  return el('ol', { class: 'stack' }, ...frames.map(one));
}
