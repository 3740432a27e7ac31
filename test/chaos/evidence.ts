/**
 * A round as checkers see it: its events, put together to calls, and calls put together to
 * operations.
 */
import { groupBy } from '../histories/group-by.ts';
import type { Call } from '../histories/history.ts';
import { getReportedOutcome } from '../histories/reported-outcomes.ts';
import type { Overview } from './contract.ts';
import type { HistoryEvent, Lost, RoundBegun } from './history.ts';

/** One call, with fields of its own history beside the fields of all histories. */
export interface RecordedCall extends Call {
  readonly call: number;
  readonly process: string;
  readonly operationId?: string;
  /** Where the client was connected when it ended. */
  endedAt?: string | null;
}

export interface Evidence {
  readonly round: RoundBegun;
  /** In the order in which they began. */
  readonly calls: readonly RecordedCall[];
  /** The same, with attempts at one operation put together. */
  readonly operations: readonly RecordedCall[];
  readonly lost: readonly Lost[];
  readonly missed: readonly string[];
  /** What each site shows in the end; null if it did not answer. */
  readonly settled: ReadonlyMap<string, Overview | null>;
}

/** Puts the events of one round together. */
export function toEvidence(events: readonly HistoryEvent[]): Evidence {
  const round = events.find((event) => event.kind === 'round');
  if (round === undefined) throw new Error('a round has to begin with the event "round"');
  const calls = new Map<number, RecordedCall>();
  const settled = new Map<string, Overview | null>();
  for (const event of events) {
    if (event.kind === 'begun') {
      const { call, atMs, kind: _, operation, site: __, ...what } = event;
      calls.set(call, { ...what, call, kind: operation, beginMs: atMs, views: [] });
    } else if (event.kind === 'view') {
      const { level, value, meta, atMs } = event;
      (calls.get(event.call)?.views as unknown[] | undefined)?.push({ level, value, atMs, meta });
    } else if (event.kind === 'ended') {
      const call = calls.get(event.call);
      if (call === undefined) continue;
      call.endMs = event.atMs;
      call.outcome = event.outcome;
      call.endedAt = event.site;
      if (event.isRetryable !== undefined) call.isRetryable = event.isRetryable;
      if (event.outcome === 'success') call.output = call.views?.at(-1)?.value;
    } else if (event.kind === 'settled') {
      settled.set(event.site, event.overview as Overview | null);
    }
  }
  return {
    round,
    calls: [...calls.values()],
    operations: mergeAttempts([...calls.values()]),
    lost: events.filter((event) => event.kind === 'lost'),
    missed: events.filter((event) => event.kind === 'missed').map(({ text }) => text),
    settled,
  };
}

/**
 * Puts the attempts at one operation together: it began with the first one. It is made if one
 * attempt was acknowledged, which is then the last one that counts. It is not made only if each
 * attempt was reported not to be.
 */
function mergeAttempts(calls: readonly RecordedCall[]): RecordedCall[] {
  const named = groupBy(
    calls.filter(({ operationId }) => operationId !== undefined),
    ({ operationId }) => operationId,
  );
  const merged = [...named.values()].map((attempts) => {
    const [first] = attempts as [RecordedCall];
    const counted =
      attempts.find(({ outcome }) => outcome === 'success') ??
      attempts.find((call) => getReportedOutcome(call) === 'unknown') ??
      (attempts.at(-1) as RecordedCall);
    return { ...counted, call: first.call, beginMs: first.beginMs };
  });
  const unnamed = calls.filter(({ operationId }) => operationId === undefined);
  return [...unnamed, ...merged].sort((a, b) => a.call - b.call);
}
