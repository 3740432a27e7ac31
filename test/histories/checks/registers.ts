/**
 * Whether the outcomes of the calls of one key are possible for one register (Gibbons and Korach,
 * "Testing shared memories", 1997, §4.1). Each value is written once at most. A value whose calls
 * do not all overlap was the register's from the first end to the last begin of them (a forward
 * zone); any other one was so at some moment between (a backward zone). The calls are linearizable
 * iff no two forward zones overlap and no backward zone is inside a forward one.
 */
import type { Call } from '../history.ts';
import { getReportedOutcome } from '../reported-outcomes.ts';

/** The value that a call read, `undefined` if there was none. */
export interface Read {
  readonly session: string;
  readonly value: string | undefined;
  readonly beginMs: number;
  readonly endMs: number;
}

interface Zone {
  readonly value: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Faults of reads at the level that promises linearizability; among `writes` are those that failed.
 */
export function registerFaults(
  key: string,
  writes: readonly Call[],
  reads: readonly Read[],
): string[] {
  const faults = unreadable(key, writes, reads);
  if (faults.length > 0) return faults;
  const zones = [...zonesOf(writes, reads)];
  const forward = zones
    .filter(({ fromMs, toMs }) => fromMs < toMs)
    .sort((a, b) => a.fromMs - b.fromMs);
  const backward = zones.filter(({ fromMs, toMs }) => fromMs >= toMs);
  for (const [at, zone] of forward.entries()) {
    const next = forward[at + 1];
    if (next !== undefined && next.fromMs < zone.toMs) faults.push(conflict(key, zone, next));
  }
  for (const zone of backward) {
    const around = forward.find(({ fromMs, toMs }) => fromMs < zone.toMs && zone.fromMs < toMs);
    if (around !== undefined) faults.push(conflict(key, around, zone));
  }
  return faults;
}

/**
 * Values that may not be read at any level: those that no call wrote, that were not written yet, or
 * whose write failed as not made.
 */
export function unreadable(key: string, writes: readonly Call[], reads: readonly Read[]): string[] {
  const byValue = new Map(writes.map((write) => [write.input as string | undefined, write]));
  return reads.flatMap(({ session, value, endMs }) => {
    const write = byValue.get(value);
    const read = `${key}: ${session} read ${JSON.stringify(value)} at ${Math.round(endMs)} ms`;
    if (value === undefined) return [];
    if (write === undefined) return [`${read}, which no call wrote`];
    if (write.beginMs > endMs) return [`${read}, before it was written`];
    return getReportedOutcome(write) === 'not made'
      ? [`${read}, whose write failed as not made (${write.outcome})`]
      : [];
  });
}

/**
 * Reads of one session, one after the other, that go back in time: to what had been overwritten
 * before what was read first was begun to be written.
 */
export function backInTime(key: string, writes: readonly Call[], reads: readonly Read[]): string[] {
  const byValue = new Map(writes.map((write) => [write.input as string | undefined, write]));
  const faults: string[] = [];
  const inOrder = [...reads].sort((a, b) => a.beginMs - b.beginMs);
  for (const [at, later] of inOrder.entries()) {
    const writtenBy = later.value === undefined ? -Infinity : endOf(byValue.get(later.value));
    const newer = inOrder.slice(0, at).find((earlier) => {
      const write = byValue.get(earlier.value);
      const isBefore = earlier.session === later.session && earlier.endMs < later.beginMs;
      return isBefore && write !== undefined && writtenBy < write.beginMs;
    });
    if (newer === undefined) continue;
    const values = `${JSON.stringify(newer.value)}, then ${JSON.stringify(later.value)}`;
    faults.push(
      `${key}: ${later.session} read ${values}, which is older, at ${Math.round(later.endMs)} ms`,
    );
  }
  return faults;
}

/** When a write certainly was made; never, where that is not known. */
function endOf(write: Call | undefined): number {
  return write === undefined || getReportedOutcome(write) !== 'made'
    ? Infinity
    : (write.endMs ?? Infinity);
}

function* zonesOf(writes: readonly Call[], reads: readonly Read[]): Generator<Zone> {
  const readsOf = new Map<string | undefined, Read[]>();
  for (const read of reads) readsOf.set(read.value, [...(readsOf.get(read.value) ?? []), read]);
  // What was there at the beginning.
  yield zoneOf(undefined, { beginMs: -Infinity, endMs: -Infinity }, readsOf.get(undefined) ?? []);
  for (const write of writes) {
    const value = write.input as string;
    const readBy = readsOf.get(value) ?? [];
    // A write that may not have been made, and that no view has shown, need not have a place.
    if (endOf(write) === Infinity && readBy.length === 0) continue;
    yield zoneOf(value, { beginMs: write.beginMs, endMs: endOf(write) }, readBy);
  }
}

type Span = Pick<Read, 'beginMs' | 'endMs'>;

function zoneOf(value: string | undefined, write: Span, reads: readonly Span[]): Zone {
  const fromMs = reads.reduce((first, { endMs }) => Math.min(first, endMs), write.endMs);
  const toMs = reads.reduce((last, { beginMs }) => Math.max(last, beginMs), write.beginMs);
  return { value, fromMs, toMs };
}

function conflict(key: string, a: Zone, b: Zone): string {
  const atMs = Math.round(Math.max(a.fromMs, Math.min(b.fromMs, b.toMs)));
  return `${key}: ${JSON.stringify(a.value)} and ${JSON.stringify(b.value)} would both have been there at ${atMs} ms`;
}
