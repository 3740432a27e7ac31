/** Calls of the backend's histories, for tests of the checkers. Default: each lasts ten milliseconds. */
import type { Call } from '../../../histories/history.ts';
import type { Look } from '../../../histories/redblue/contract.ts';

const LASTS_MS = 10;

type Details = Partial<Omit<Call, 'kind'>> & { readonly level?: string };

export function call(kind: string, atMs: number, { level = 'strong', ...details }: Details = {}): Call {
  const endMs = atMs + LASTS_MS;
  const views = [{ level, value: details.output, atMs: endMs }];
  return { session: 's', kind, key: 'k', beginMs: atMs, endMs, outcome: 'success', views, ...details };
}

export function noted(id: string, atMs: number, details: Details = {}): Call {
  return call('note', atMs, { input: id, output: null, level: 'causal', ...details });
}

export function deposited(id: string, amount: number, atMs: number, details: Details = {}): Call {
  return call('deposit', atMs, { input: { id, amount }, output: null, level: 'causal', ...details });
}

export function withdrawn(id: string, amount: number, atMs: number, details: Details = {}): Call {
  return call('withdraw', atMs, { input: { id, amount }, output: true, ...details });
}

/** What a look shows: lines of one row, and of one account its balance and payments. */
export function shown(lines: readonly string[], [balance, ids]: readonly [number, readonly string[]] = [0, []]): Look {
  return { lines: [[...lines]], accounts: [{ balance, ids: [...ids] }], onDuty: ['ann'] };
}

export function looked(output: Look, atMs: number, details: Details = {}): Call {
  return call('look', atMs, { output, ...details });
}

/** A call whose outcome is not known. */
export const UNKNOWN = { outcome: 'UNKNOWN', isRetryable: false, views: [] } as const;
/** A call that failed as not made. */
export const NOT_MADE = { outcome: 'UNAVAILABLE', isRetryable: true, views: [] } as const;
