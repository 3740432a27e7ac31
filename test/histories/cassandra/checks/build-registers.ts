/**
 * Builds registers from a history: which call wrote which value when, and which views showed it.
 */
import type { Call } from '../../history.ts';
import { getReportedOutcome, type ReportedOutcome } from '../../reported-outcomes.ts';
import { getInput } from '../inputs.ts';

/** One value of one key, or its deletion. */
export interface Write {
  readonly call: Call;
  /** null: nothing is there any more. */
  readonly value: string | null;
  /** Between these its time stamp lies. */
  readonly earliestMs: number;
  readonly latestMs: number;
  /**
   * Its place among the writes that one clock stamps in the order in which they begin; none for
   * conditions.
   */
  readonly place: number | undefined;
  readonly reported: ReportedOutcome;
  /** Before this it cannot be seen. */
  readonly fromMs: number;
  /** After this every view shows it; Infinity if its call did not succeed. */
  readonly doneMs: number;
}

/** One key in one view. */
export interface Sight {
  readonly call: Call;
  readonly level: string;
  readonly value: string | null;
  readonly beginMs: number;
  readonly atMs: number;
}

export interface Register {
  readonly key: string;
  readonly writes: Write[];
  /** In the order in which they were shown. */
  readonly sights: Sight[];
}

/** Cassandra stamps conditions itself, by a clock that may show whole milliseconds. */
const SERVER_CLOCK_MS = 1;
/** Cassandra counts seconds, and may begin with the one that is nearly over. */
const KEPT_LESS_MS = 1_500;
/** What has expired is where it was written, and no later. */
const EXPIRES_AT_PLACE = 0.5;

/** All registers, by key. */
export function registersOf(calls: readonly Call[]): ReadonlyMap<string, Register> {
  const registers = new Map<string, Register>();
  const register = (key: string): Register => {
    const known = registers.get(key) ?? { key, writes: [], sights: [] };
    registers.set(key, known);
    return known;
  };
  // In the order in which they began, which is that of their stamps: one process, one clock.
  for (const [place, call] of calls.entries()) {
    const { writes = [], reads = [] } = getInput(call);
    for (const { key, value } of writes) register(key).writes.push(...writesOf(call, value, place));
    for (const { level, value, atMs } of reads.length === 0 ? [] : (call.views ?? [])) {
      const values = value as readonly (string | null)[];
      for (const [at, key] of reads.entries()) {
        register(key).sights.push({
          call,
          level,
          value: values[at] ?? null,
          beginMs: call.beginMs,
          atMs,
        });
      }
    }
  }
  for (const { sights } of registers.values()) sights.sort((a, b) => a.atMs - b.atMs);
  return registers;
}

/**
 * Whether the one was stamped before the other, whatever clocks did within their bounds: what a
 * condition has found, surely.
 */
export function surelyBefore(a: Write, b: Write): boolean {
  if (a.place !== undefined && b.place !== undefined) return a.place < b.place;
  return a.latestMs < b.earliestMs || (isReplacedBy(a, b) && b.latestMs >= a.earliestMs);
}

function isReplacedBy(a: Write, { call, reported: fate }: Write): boolean {
  return (
    a.value !== null && fate === 'made' && a.call !== call && getInput(call).expected === a.value
  );
}

/** What a value was before anybody wrote it: nothing, before all writes. */
export const INITIALLY: Write = {
  call: { session: '', kind: 'initially', key: '', beginMs: -Infinity },
  value: null,
  earliestMs: -Infinity,
  latestMs: -Infinity,
  place: -1,
  reported: 'made',
  fromMs: -Infinity,
  doneMs: -Infinity,
};

function writesOf(call: Call, value: string | null, place: number): Write[] {
  const { expected, keepMs } = getInput(call);
  const isCondition = expected !== undefined;
  const fate = isCondition && call.output === false ? 'not made' : getReportedOutcome(call);
  const { beginMs, endMs = Infinity } = call;
  const write: Write = {
    call,
    value,
    earliestMs: isCondition ? beginMs - SERVER_CLOCK_MS : beginMs,
    // It is unknown when a condition without an outcome was decided.
    latestMs: !isCondition ? beginMs : fate === 'made' ? endMs : Infinity,
    place: isCondition ? undefined : place,
    reported: fate,
    fromMs: beginMs,
    doneMs: fate === 'made' ? endMs : Infinity,
  };
  if (keepMs === undefined) return [write];
  const expired: Write = {
    ...write,
    value: null,
    place: place + EXPIRES_AT_PLACE,
    reported: fate === 'made' ? 'unknown' : fate,
    fromMs: beginMs + keepMs - KEPT_LESS_MS,
    doneMs: Infinity,
  };
  return [write, expired];
}
