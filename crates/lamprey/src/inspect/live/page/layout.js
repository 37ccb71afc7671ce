// Where the nodes of a wait-for graph are drawn. Who waits stands to the left of what it waits for, in columns; those that wait for each
// other in a ring stand together in two columns, down on the right and up on the left. Many that wait alike are one node.

/** More threads than these that nobody waits for, and that wait for the same, become one node. */
const ALIKE = 6;
const HEIGHT = 28;
const ROW = 12;
/** The least room between columns, and for a letter of what stands there. */
const COLUMN = 64;
const SMALL = 5.8;
const BETWEEN = 40;
const LETTER = 7;
const LONGEST = 30;

/** Boxes with their place and edges between them; `width` and `height` of it all, for a picture about as wide as `room`. */
export function layout(graph, room) {
  const { nodes, edges } = fold(graph);
  for (const node of nodes.values()) {
    const name = brief(node.label);
    node.text = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
    node.width = Math.round(node.text.length * LETTER + 24);
    node.height = HEIGHT;
  }
  const longest = Math.max(...edges.map((edge) => edge.label?.length ?? 0), 0);
  const gap = Math.max(COLUMN, Math.min(longest, LONGEST) * SMALL + 20);
  const blocks = rings(nodes);
  for (const block of blocks) shape(block, gap);
  const parts = components(blocks).map((part) => place(part, gap));
  // Those with a ring first, then the largest.
  parts.sort((a, b) => b.hasRing - a.hasRing || b.blocks.length - a.blocks.length);
  const size = shelves(parts, room);
  return { nodes: [...nodes.values()], edges, ...size };
}

/** The name of "host 5 `back`". What has none is called as it is. */
function brief(label) {
  return /^[\w ]+ \d+ `(.+)`$/s.exec(label)?.[1] ?? label;
}

/** Nodes with who they wait for (`out`) and who waits for them (`into`), those that wait alike folded. */
function fold({ nodes, edges }) {
  const all = new Map(nodes.map((node) => [node.id, { ...node, out: [], into: [], count: 1 }]));
  const known = edges.filter((edge) => all.has(edge.from) && all.has(edge.to));
  for (const { from, to } of known) {
    if (from === to || all.get(from).out.includes(all.get(to))) continue;
    all.get(from).out.push(all.get(to));
    all.get(to).into.push(all.get(from));
  }
  for (const target of [...all.values()]) {
    const alike = target.into.filter((node) => node.into.length === 0 && node.out.length === 1);
    if (alike.length <= ALIKE) continue;
    const one = { ...alike[0], id: `${target.id} alike`, label: `${alike.length} threads`, count: alike.length, folded: alike, into: [], out: [target] };
    for (const node of alike) all.delete(node.id);
    target.into = target.into.filter((node) => !alike.includes(node));
    target.into.push(one);
    all.set(one.id, one);
    const label = known.find((edge) => edge.from === alike[0].id)?.label;
    known.push({ from: one.id, to: target.id, label });
  }
  const seen = new Set();
  const left = known.filter(({ from, to }) => all.has(from) && all.has(to) && !seen.has(`${from} ${to}`) && seen.add(`${from} ${to}`));
  return { nodes: all, edges: left.map((edge) => ({ ...edge, from: all.get(edge.from), to: all.get(edge.to) })) };
}

/** Blocks of nodes that reach each other (Tarjan's algorithm, without recursion: chains may be long). */
function rings(nodes) {
  const blocks = [];
  const open = [];
  let next = 0;
  for (const root of nodes.values()) {
    if (root.index !== undefined) continue;
    const calls = [{ node: root, at: 0 }];
    while (calls.length) {
      const call = calls.at(-1);
      const { node } = call;
      if (call.at === 0) {
        node.index = node.low = next++;
        node.isOpen = true;
        open.push(node);
      }
      if (call.at < node.out.length) {
        const other = node.out[call.at++];
        if (other.index === undefined) calls.push({ node: other, at: 0 });
        else if (other.isOpen) node.low = Math.min(node.low, other.index);
        continue;
      }
      calls.pop();
      if (calls.length) calls.at(-1).node.low = Math.min(calls.at(-1).node.low, node.low);
      if (node.low !== node.index) continue;
      const members = open.splice(open.indexOf(node));
      const block = { members };
      for (const member of members) Object.assign(member, { isOpen: false, block });
      blocks.push(block);
    }
  }
  return blocks;
}

/** The places of the members within their block, and its size. */
function shape(block, gap) {
  // The one that most others wait for is on the left, where they are.
  const waiters = (node) => node.into.filter((other) => other.block !== block).length;
  const most = block.members.reduce((best, node) => (waiters(node) > waiters(best) ? node : best));
  const at = block.members.indexOf(most) + 1;
  const members = (block.members = [...block.members.slice(at), ...block.members.slice(0, at)]);
  const width = Math.max(...members.map((node) => node.width));
  const right = members.slice(0, Math.ceil(members.length / 2));
  const left = members.slice(right.length).reverse();
  const step = HEIGHT + (members.length > 1 ? 44 : 0);
  block.height = right.length * step - (step - HEIGHT);
  block.width = left.length ? 2 * width + gap : width;
  const column = (column, x) => {
    const top = (block.height - ((column.length - 1) * step + HEIGHT)) / 2;
    column.forEach((node, i) => Object.assign(node, { dx: x + (width - node.width) / 2, dy: top + i * step }));
  };
  column(right, block.width - width);
  column(left, 0);
}

/** The blocks that hang together. */
function components(blocks) {
  const parts = [];
  const seen = new Set();
  for (const first of blocks) {
    if (seen.has(first)) continue;
    const part = [];
    const todo = [first];
    seen.add(first);
    while (todo.length) {
      const block = todo.pop();
      part.push(block);
      for (const { block: other } of block.members.flatMap((node) => [...node.out, ...node.into])) {
        if (!seen.has(other)) todo.push(other);
        seen.add(other);
      }
    }
    parts.push(part);
  }
  return parts;
}

/** Places the blocks of a component: columns from the right, each block level with what it waits for, if there is room. */
function place(blocks, gap) {
  const after = (block) => [...new Set(block.members.flatMap((node) => node.out.map((other) => other.block)))].filter((other) => other !== block);
  const depth = (block) => (block.depth ??= 1 + Math.max(-1, ...after(block).map(depth)));
  const columns = [];
  for (const block of blocks) (columns[depth(block)] ??= []).push(block);
  let x = 0;
  columns.forEach((column, number) => {
    const width = Math.max(...column.map((block) => block.width));
    x -= width;
    for (const block of column) {
      const targets = after(block);
      block.x = x + (width - block.width);
      block.wish = number === 0 ? 0 : targets.reduce((sum, other) => sum + other.y + other.height / 2, 0) / targets.length - block.height / 2;
    }
    column.sort((a, b) => a.wish - b.wish);
    let bottom = -Infinity;
    for (const block of column) {
      block.y = Math.max(block.wish, bottom);
      bottom = block.y + block.height + ROW;
    }
    // What was pushed down is shared.
    const off = column.reduce((sum, block) => sum + block.y - block.wish, 0) / column.length;
    for (const block of column) block.y -= off;
    x -= gap;
  });
  const left = Math.min(...blocks.map((block) => block.x));
  const top = Math.min(...blocks.map((block) => block.y));
  for (const block of blocks) {
    block.x -= left;
    block.y -= top;
  }
  return {
    blocks,
    hasRing: blocks.some((block) => block.members.length > 1),
    width: Math.max(...blocks.map((block) => block.x + block.width)),
    height: Math.max(...blocks.map((block) => block.y + block.height)),
  };
}

/** Places the components beside and below each other, and with them all nodes. */
function shelves(parts, room) {
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > room) {
      [x, y, row] = [0, y + row + BETWEEN, 0];
    }
    for (const block of part.blocks) {
      for (const node of block.members) {
        node.x = x + block.x + node.dx;
        node.y = y + block.y + node.dy;
      }
    }
    x += part.width + BETWEEN;
    row = Math.max(row, part.height);
    width = Math.max(width, x - BETWEEN);
  }
  return { width, height: y + row };
}
