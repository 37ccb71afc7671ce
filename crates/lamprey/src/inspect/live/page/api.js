// Asking the program.

const PATIENCE = 20_000;
const token = new URLSearchParams(location.search).get('token');

/** Why there is no answer. `status` is 0 if the program has not answered at all. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** The address of an answer that is no JSON, for a link. */
export function address(path, query = {}) {
  const pairs = Object.entries({ ...query, token }).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(pairs).toString();
  return `api/v1/${path}${text && `?${text}`}`;
}

async function ask(path, query, signal, read) {
  // A signal that ends by time only tells apart a program that does not answer from a view that is left.
  const limit = AbortSignal.timeout(PATIENCE);
  let answer;
  try {
    answer = await fetch(address(path, query), { signal: signal ? AbortSignal.any([signal, limit]) : limit, cache: 'no-store' });
    if (answer.ok) return await read(answer);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0, limit.aborted ? `no answer within ${PATIENCE / 1000} seconds` : String(error.message));
  }
  let text = answer.statusText;
  try {
    text = (await answer.json()).error ?? text;
  } catch {
    // The status says enough.
  }
  throw new Refused(answer.status, text);
}

export const get = (path, query, signal) => ask(path, query, signal, (answer) => answer.json());
export const getText = (path, query, signal) => ask(path, query, signal, (answer) => answer.text());
