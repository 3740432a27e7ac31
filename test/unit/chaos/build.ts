/**
 * Histories of one round, for tests of the checkers. Unless stated otherwise a call lasts ten
 * milliseconds.
 */
import type { Overview } from '../../chaos/contract.ts';
import { toEvidence, type Evidence } from '../../chaos/evidence.ts';
import type { HistoryEvent } from '../../chaos/history.ts';

const LASTS_MS = 10;

export interface Details {
  readonly session?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly lastsMs?: number;
  readonly operationId?: string;
  readonly level?: string;
  readonly site?: string;
  /** The code of an error; default: `success`. */
  readonly outcome?: string;
  readonly isRetryable?: boolean;
  /** It never ended. */
  readonly isOpen?: boolean;
}

export const UNKNOWN = { outcome: 'UNKNOWN', isRetryable: false } as const;
export const NOT_MADE = { outcome: 'UNAVAILABLE', isRetryable: true } as const;

export class RoundBuilder {
  readonly events: HistoryEvent[] = [
    {
      kind: 'round',
      atMs: 0,
      seed: 1,
      seats: { gala: 2 },
      keys: { accounts: ['rich'], halls: ['gala'], profiles: ['p1', 'p2'], values: ['v1'] },
      queues: ['concert'],
    },
  ];
  #calls = 0;

  /** Adds a call. */
  call(operation: string, key: string, atMs: number, details: Details = {}): this {
    const {
      session = 's',
      input,
      output,
      lastsMs = LASTS_MS,
      operationId,
      level = 'strong',
      site = null,
    } = details;
    const { outcome = 'success', isRetryable, isOpen = false } = details;
    const call = (this.#calls += 1);
    const named = operationId === undefined ? {} : { operationId };
    this.events.push({
      kind: 'begun',
      atMs,
      call,
      operation,
      process: session,
      session,
      site,
      key,
      input,
      ...named,
    });
    if (isOpen) return this;
    const endMs = atMs + lastsMs;
    if (outcome === 'success')
      this.events.push({ kind: 'view', atMs: endMs, call, level, value: output ?? null });
    const failure = isRetryable === undefined ? {} : { isRetryable };
    this.events.push({ kind: 'ended', atMs: endMs, call, site, outcome, ...failure });
    return this;
  }

  /** Makes it a round of the bank with two accounts. */
  bank(total: number): this {
    const keys = { accounts: ['rich', 'poor'], halls: [], profiles: [], values: [] };
    this.events[0] = { kind: 'round', atMs: 0, seed: 1, seats: {}, keys, queues: [], total };
    return this;
  }

  /** Adds a transfer of 1 from `rich` to `poor`. */
  transfer(id: string, atMs: number, details: Details = {}): this {
    return this.call('transfer', 'rich', atMs, {
      ...details,
      input: { id, from: 'rich', to: 'poor', amount: 1 },
    });
  }

  deposit(id: string, atMs: number, details: Details = {}): this {
    return this.call('deposit', 'rich', atMs, { ...details, input: { id, amount: 1 } });
  }

  look(overview: Overview, atMs: number, details: Details = {}): this {
    return this.call('look', 'all', atMs, { ...details, output: overview });
  }

  settled(...overviews: readonly (Overview | null)[]): this {
    for (const [n, overview] of overviews.entries()) {
      this.events.push({ kind: 'settled', atMs: 1e6, site: `site${n}`, overview });
    }
    return this;
  }

  lost(site: string, sinceMs: number, untilMs: number): this {
    this.events.push({ kind: 'lost', atMs: untilMs, site, sinceMs, untilMs });
    return this;
  }

  get evidence(): Evidence {
    return toEvidence(this.events);
  }
}

/** What `look` shows where nothing happened but what is given. */
export function overview(
  changes: Partial<Overview> & { readonly ids?: readonly string[] } = {},
): Overview {
  const { ids = [], ...other } = changes;
  const accounts = [{ balance: ids.length, ids: [...ids] }];
  return {
    accounts,
    halls: [{ left: 2, sold: [] }],
    profiles: [null, null],
    values: [null],
    ...other,
  };
}
