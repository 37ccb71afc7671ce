// Who waits for whom, as a picture.

import { get } from './api.js';
import { count, el, plural, say, set, threadOf } from './dom.js';
import { layout } from './layout.js';

const MARGIN = 16;
/** With more edges than these their labels are shown only when one points at them. */
const LABELLED = 60;

export function graph(page) {
  const about = el('p', { class: 'about', role: 'status' });
  const scale = (title, hint, act) => el('button', { type: 'button', title: hint, 'aria-label': hint, onclick: act }, title);
  const stage = el('div', { class: 'stage', tabindex: '0', role: 'group', 'aria-label': 'Picture of who waits for whom' });
  const legend = el('ul', { class: 'legend' }, ...[['thread', 'thread'], ['lock', 'lock'], ['channel', 'channel'], ['stuck', 'stuck for ever']].map(([kind, text]) => el('li', { 'data-kind': kind }, text)));
  const root = el('div', { class: 'view fills' },
    el('div', { class: 'bar-of-view' }, legend,
      el('div', { class: 'segments', role: 'group', 'aria-label': 'Size' }, scale('−', 'Smaller', () => zoom(factor / 1.25)), scale('Fit', 'As large as fits', () => fit()), scale('+', 'Larger', () => zoom(factor * 1.25))), about),
    stage);
  let drawn = '';
  let size = { width: 1, height: 1 };
  let factor = 1;

  async function refresh(_query, signal) {
    const answer = await get('graph', {}, signal);
    const text = JSON.stringify(answer);
    // A picture that is the same stays, with its scroll and focus.
    if (text === drawn) return;
    const isFirst = drawn === '';
    drawn = text;
    const waits = answer.edges.length;
    say(about, `${plural(answer.nodes.length, 'node')}, ${plural(waits, 'wait')}${answer.cut ? '; there are more' : ''}`);
    if (!answer.nodes.length) {
      stage.replaceChildren(el('p', { class: 'nothing' }, 'Nobody waits for what another thread has.'));
      return;
    }
    const at = { left: stage.scrollLeft, top: stage.scrollTop };
    const picture = layout(answer, Math.max(stage.clientWidth - 2 * MARGIN, 600));
    size = { width: picture.width + 2 * MARGIN, height: picture.height + 2 * MARGIN };
    stage.replaceChildren(draw(page, picture, size));
    if (isFirst) fit();
    else zoom(factor);
    stage.scrollTo(at);
  }

  function zoom(to) {
    factor = Math.min(Math.max(to, 0.1), 3);
    const svg = stage.querySelector('svg');
    set(svg, 'width', Math.round(size.width * factor));
    set(svg, 'height', Math.round(size.height * factor));
  }

  function fit() {
    // Text that cannot be read fits nothing.
    zoom(Math.max(Math.min(1.25, (stage.clientWidth - 4) / size.width), 0.8));
  }

  return { root, refresh };
}

function draw(page, { nodes, edges }, { width, height }) {
  const arrow = (id, stuck) => el('marker', { id, viewBox: '0 0 8 8', refX: '7.5', refY: '4', markerWidth: '7', markerHeight: '7', orient: 'auto-start-reverse', class: stuck ? 'stuck' : undefined }, el('path', { d: 'M0 0.5 8 4 0 7.5z' }));
  const isLabelled = edges.length <= LABELLED;
  const lines = edges.map((edge) => drawEdge(edge, isLabelled));
  const boxes = nodes.toSorted((a, b) => a.y - b.y || a.x - b.x).map((node) => drawNode(page, node));
  return el('svg', { class: 'waits', viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}` }, el('defs', {}, arrow('arrow'), arrow('arrow-stuck', true)), ...lines, ...boxes);
}

function drawNode(page, node) {
  const { x, y, width, height } = node;
  const title = node.folded ? node.folded.map((one) => one.label).join('\n') : node.label;
  const box = el('g', { class: 'node', 'data-kind': node.kind, 'data-stuck': node.stuck && '', 'data-folded': node.folded && '' },
    el('title', {}, node.stuck ? `${title} (stuck)` : title),
    node.folded && el('rect', { class: 'behind', x: x + 3, y: y + 3, width, height, rx: 5 }),
    el('rect', { x, y, width, height, rx: node.kind === 'channel' ? height / 2 : node.kind === 'lock' ? 0 : 5 }),
    el('text', { x: x + width / 2, y: y + height / 2 }, node.folded ? `${count(node.count)} threads` : node.text));
  if (node.kind !== 'thread' || node.folded || !threadOf(node)) return box;
  const link = document.createElementNS('http://www.w3.org/2000/svg', 'a');
  set(link, 'href', page.link('graph', { thread: threadOf(node) }));
  set(link, 'data-row', '');
  set(link, 'aria-label', title);
  link.append(box);
  return link;
}

function drawEdge({ from, to, label }, isLabelled) {
  const isBack = to.out.includes(from);
  const isStuck = from.stuck && to.stuck && from.block === to.block;
  const { path, middle } = route(from, to, isBack ? 7 : 0);
  const line = el('path', { d: path, 'marker-end': isStuck ? 'url(#arrow-stuck)' : 'url(#arrow)' });
  const text = isLabelled && label && el('text', { x: middle[0], y: middle[1] }, label);
  return el('g', { class: 'edge', 'data-stuck': isStuck && '' }, el('title', {}, `${from.label} → ${to.label}${label ? `: ${label}` : ''}`), line, text);
}

/** A line from the border of one box to that of the other. `aside` keeps apart a line there and one back. */
function route(from, to, aside) {
  const middle = (node) => [node.x + node.width / 2, node.y + node.height / 2];
  const [[fx, fy], [tx, ty]] = [middle(from), middle(to)];
  if (to.x > from.x + from.width || to.x + to.width < from.x) {
    const sign = tx > fx ? 1 : -1;
    const [x1, y1, x2, y2] = [fx + (sign * from.width) / 2, fy - sign * aside, tx - (sign * to.width) / 2, ty - sign * aside];
    const bend = Math.abs(x2 - x1) / 2;
    return { path: `M${x1} ${y1}C${x1 + sign * bend} ${y1} ${x2 - sign * bend} ${y2} ${x2} ${y2}`, middle: [(x1 + x2) / 2, (y1 + y2) / 2 + (aside && sign < 0 ? 12 : -5)] };
  }
  const sign = ty > fy ? 1 : -1;
  const [y1, y2] = [fy + (sign * from.height) / 2, ty - (sign * to.height) / 2];
  const x1 = fx + sign * aside;
  const x2 = tx + sign * aside;
  return { path: `M${x1} ${y1}L${x2} ${y2}`, middle: [(x1 + x2) / 2, (y1 + y2) / 2 + 4] };
}
