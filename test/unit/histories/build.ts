/** Calls of histories, for tests of the checkers. Default: each lasts ten milliseconds. */
import type { Call } from '../../histories/history.ts';

const LASTS_MS = 10;

type Details = Partial<Omit<Call, 'kind'>> & { readonly number?: number };

function call(kind: string, atMs: number, { number, ...details }: Details): Call {
  const endMs = atMs + LASTS_MS;
  const meta = number === undefined ? {} : { meta: { number } };
  const views = [{ level: 'strong', value: details.output, atMs: endMs, ...meta }];
  return {
    session: 's',
    kind,
    key: 'q',
    beginMs: atMs,
    endMs,
    outcome: 'success',
    views,
    ...details,
  };
}

export function enqueued(item: string, atMs: number, details: Details = {}): Call {
  return call('enqueue', atMs, { input: item, ...details });
}

/** `null`: there was none. */
export function dequeued(item: string | null, atMs: number, details: Details = {}): Call {
  return call('dequeue', atMs, { output: item === null ? null : { item }, ...details });
}

export function deleted(atMs: number, details: Details = {}): Call {
  return call('delete queue', atMs, details);
}

export function written(value: string, atMs: number, details: Details = {}): Call {
  return call('put', atMs, { key: 'k', input: value, ...details });
}

/** A call whose outcome is not known. */
export const UNKNOWN = { outcome: 'UNKNOWN', isRetryable: false, views: [] } as const;
/** A call that failed as not made. */
export const NOT_MADE = { outcome: 'UNAVAILABLE', isRetryable: true, views: [] } as const;

/** A call that requested and got only a preliminary view. */
export function guessed(item: string | null, atMs: number): Call {
  const output = item === null ? null : { item };
  return {
    ...dequeued(item, atMs),
    levels: ['weak'],
    views: [{ level: 'weak', value: output, atMs: atMs + LASTS_MS }],
  };
}
