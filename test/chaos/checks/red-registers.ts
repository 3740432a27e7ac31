/**
 * Whether the red registers are linearizable: `put`, `swap`, `get`, and strong views of everything.
 */
import { registerFaults, type Read } from '../../histories/checks/registers.ts';
import { getReportedOutcome } from '../../histories/reported-outcomes.ts';
import type { Overview } from '../contract.ts';
import type { Evidence, RecordedCall } from '../evidence.ts';
import { checkLinearizability, type Operation } from './linearizability.ts';

type Value = string | null;

export function redRegisterFaults(evidence: Evidence): string[] {
  return evidence.round.keys.values.flatMap((key, n) => keyFaults(key, n, evidence));
}

function keyFaults(key: string, n: number, { operations, settled }: Evidence): string[] {
  const writes = operations.filter(
    (call) => (call.kind === 'put' || call.kind === 'swap') && call.key === key,
  );
  const reads = [...readsOf(operations, key, n)];
  for (const [site, overview] of settled) {
    if (overview === null) continue;
    const atMs = Math.max(...operations.map(({ endMs = 0 }) => endMs)) + 1;
    reads.push({
      session: `${site} in the end`,
      value: overview.values[n] ?? undefined,
      beginMs: atMs,
      endMs: atMs,
    });
  }
  // What a swap replaced, it has read.
  const swapped = writes
    .filter(({ kind, outcome }) => kind === 'swap' && outcome === 'success')
    .map(({ session, output, beginMs, endMs = Infinity }) => ({
      session,
      value: (output as Value) ?? undefined,
      beginMs,
      endMs,
    }));
  const faults = registerFaults(key, writes, [...reads, ...swapped]);
  if (faults.length > 0) return faults;
  const verdict = checkLinearizability(toOperations(writes, [...reads, ...swapped], reads), null);
  return verdict.kind === 'impossible' ? [`${key}: ${verdict.reason}`] : [];
}

function* readsOf(calls: readonly RecordedCall[], key: string, n: number): Generator<Read> {
  for (const { kind, key: of, session, beginMs, views = [] } of calls) {
    if (kind !== 'look' && (kind !== 'get' || of !== key)) continue;
    for (const { level, value, atMs } of views) {
      if (level !== 'strong') continue;
      const shown = kind === 'get' ? (value as Value) : (value as Overview).values[n];
      yield { session, value: shown ?? undefined, beginMs, endMs: atMs };
    }
  }
}

function toOperations(
  writes: readonly RecordedCall[],
  seen: readonly Read[],
  reads: readonly Read[],
): Operation<Value>[] {
  const seenAtMs = new Map<string | undefined, number>();
  for (const { value, endMs } of seen)
    seenAtMs.set(value, Math.min(endMs, seenAtMs.get(value) ?? Infinity));
  const updates = writes.flatMap((call): Operation<Value>[] => {
    const value = String(call.input);
    const reported = getReportedOutcome(call);
    // A value that no read has shown can be left out: nothing depends on it.
    const firstSeenMs = seenAtMs.get(value);
    if (reported === 'not made' || (reported === 'unknown' && firstSeenMs === undefined)) return [];
    const endMs = Math.min(
      reported === 'made' ? (call.endMs ?? Infinity) : Infinity,
      firstSeenMs ?? Infinity,
    );
    const isSwap = call.kind === 'swap' && reported === 'made';
    const before = (call.output as Value) ?? null;
    const step = (state: Value): Value | undefined =>
      isSwap && state !== before ? undefined : value;
    return [{ beginMs: call.beginMs, endMs, step, name: `${call.kind} ${value}` }];
  });
  const views = reads.map(({ value = null, beginMs, endMs }): Operation<Value> => ({
    beginMs,
    endMs,
    step: (state) => (state === value ? state : undefined),
    name: `read ${value}`,
  }));
  return [...updates, ...views];
}
