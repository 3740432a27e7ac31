/**
 * Whether the blue registers are causally consistent, for each session (Bouajjani, Enea, Guerraoui
 * and Hamza, "On verifying causal consistency", POPL 2017). Each value is written once, so a read
 * identifies the write that it read. A write knows all that its session had read or written before
 * it. A read is wrong if its session knows a write that knows the one that was read.
 */
import { Bits } from './bitset.ts';
import { getReportedOutcome } from '../../histories/reported-outcomes.ts';
import type { Overview } from '../contract.ts';
import type { Evidence, RecordedCall } from '../evidence.ts';

interface Write {
  readonly index: number;
  readonly key: string;
  readonly value: string;
  readonly call: RecordedCall;
  /** Writes that it knows. */
  past: Bits;
}

interface Read {
  readonly key: string;
  readonly value: string | null;
}

interface Moment {
  readonly atMs: number;
  readonly isEnd: boolean;
  readonly call: RecordedCall;
}

export function causalRegisterFaults(evidence: Evidence): string[] {
  const profiles = evidence.round.keys.profiles;
  const calls = evidence.operations.filter(
    ({ kind }) => kind === 'write' || kind === 'read' || kind === 'look',
  );
  const writes = new Map<string, Write>();
  for (const call of calls.filter(({ kind }) => kind === 'write')) {
    const value = String(call.input);
    writes.set(value, { index: writes.size, key: call.key, value, call, past: new Bits(0) });
  }
  const inOrder = [...writes.values()];
  /** What each session knows. */
  const known = new Map<string, Bits>();
  const knownAtBegin = new Map<RecordedCall, Bits>();
  const faults: string[] = [];
  for (const { call, isEnd } of momentsOf(calls)) {
    const session = known.get(call.session) ?? new Bits(writes.size);
    known.set(call.session, session);
    const write = call.kind === 'write' ? writes.get(String(call.input)) : undefined;
    if (!isEnd) {
      knownAtBegin.set(call, session.copy());
      if (write !== undefined) write.past = session.copy();
    } else if (write !== undefined) {
      if (getReportedOutcome(call) === 'made') learn(session, write);
    } else {
      for (const read of readsOf(call, profiles)) {
        const from = read.value === null ? undefined : writes.get(read.value);
        const problem =
          problemOf(read, from, call) ?? overwritten(read, from, knownAtBegin.get(call), inOrder);
        if (problem !== undefined) {
          faults.push(
            `${read.key}: ${call.session} read "${read.value}" at ${Math.round(call.beginMs)} ms, ${problem}`,
          );
        }
        if (from !== undefined) learn(session, from);
      }
    }
  }
  return faults;
}

function learn(session: Bits, write: Write): void {
  session.addAll(write.past);
  session.add(write.index);
}

/** Begins and ends in the order in which they happened. */
function momentsOf(calls: readonly RecordedCall[]): Moment[] {
  return calls
    .flatMap((call) => [
      { atMs: call.beginMs, isEnd: false, call },
      ...(call.endMs === undefined ? [] : [{ atMs: call.endMs, isEnd: true, call }]),
    ])
    .sort((a, b) => a.atMs - b.atMs || Number(a.isEnd) - Number(b.isEnd));
}

/** What a call read at levels that promise something. */
function* readsOf(
  { kind, key, views = [] }: RecordedCall,
  profiles: readonly string[],
): Generator<Read> {
  for (const { level, value } of views) {
    if (level === 'tentative') continue;
    if (kind === 'read') yield { key, value: (value as string | null) ?? null };
    else
      for (const [n, shown] of (value as Overview).profiles.entries())
        yield { key: profiles[n] ?? '', value: shown };
  }
}

function problemOf(
  { key, value }: Read,
  from: Write | undefined,
  call: RecordedCall,
): string | undefined {
  if (value === null) return undefined;
  if (from === undefined || from.key !== key) return 'which no user wrote';
  if (from.call.beginMs > (call.endMs ?? Infinity)) return 'before it was written';
  const isMade = getReportedOutcome(from.call) !== 'not made';
  return isMade ? undefined : `reported not to be written (${from.call.outcome})`;
}

/** A write that the session knew, and that knows the one that was read. */
function overwritten(
  { key }: Read,
  from: Write | undefined,
  knownToSession: Bits | undefined,
  writes: readonly Write[],
): string | undefined {
  const later = writes.find(
    (write) =>
      write.key === key &&
      write !== from &&
      knownToSession?.has(write.index) === true &&
      (from === undefined || write.past.has(from.index)),
  );
  return later === undefined ? undefined : `and its session knew the later "${later.value}"`;
}
