/**
 * The history of a run, one event a line. Checkers get these events and nothing else.
 * `docs/spec/chaos.md` has the format.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * Where and when something happened, by the `performance.now()` of the process that runs the
 * clients.
 */
interface Event {
  readonly atMs: number;
}

/** A round begins: later events belong to it. Rounds share nothing but the processes. */
export interface RoundBegun extends Event {
  readonly kind: 'round';
  readonly seed: number;
  /** Seats on sale by hall. */
  readonly seats: Readonly<Record<string, number>>;
  /** What `look` returns, in that order. */
  readonly keys: Readonly<Record<'accounts' | 'halls' | 'profiles' | 'values', readonly string[]>>;
  /** All rows of the round, its queues and halls included. */
  readonly queues: readonly string[];
  /** What all accounts have together at any time, in rounds of the bank. */
  readonly total?: number | undefined;
}

/** An operation was called. */
export interface Begun extends Event {
  readonly kind: 'begun';
  /** Number of the call, unique in the history. */
  readonly call: number;
  readonly operation: string;
  /** The caller: it does one thing after the other. */
  readonly process: string;
  /** The session of the call: one that was forgotten has another name afterwards. */
  readonly session: string;
  /** Where the client was connected, if it was. */
  readonly site: string | null;
  readonly key: string;
  readonly input?: unknown;
  /** The idempotency key: calls with the same one are attempts at one operation. */
  readonly operationId?: string;
  /** The levels that were requested. Default: all. */
  readonly levels?: readonly string[];
}

/** A view arrived. */
export interface Viewed extends Event {
  readonly kind: 'view';
  readonly call: number;
  readonly level: string;
  readonly value: unknown;
  readonly meta?: unknown;
}

/** A call ended. */
export interface Ended extends Event {
  readonly kind: 'ended';
  readonly call: number;
  readonly site: string | null;
  /** `success`, or the code of the error. */
  readonly outcome: string;
  readonly isRetryable?: boolean;
  /** The text of the error. */
  readonly message?: string;
}

/** Something was done to the deployment. */
export interface Fault extends Event {
  readonly kind: 'fault';
  readonly fault: string;
  readonly site: string;
  readonly phase: 'begun' | 'ended';
  readonly details?: unknown;
}

/**
 * A site has lost its directory, and with it what no other site had of what it acknowledged in this
 * time.
 */
export interface Lost extends Event {
  readonly kind: 'lost';
  readonly site: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Something that had to happen did not. */
export interface Missed extends Event {
  readonly kind: 'missed';
  readonly text: string;
}

/** What a site shows once everything is healed. `overview` is null if it did not answer. */
export interface Settled extends Event {
  readonly kind: 'settled';
  readonly site: string;
  readonly overview: unknown;
}

export type HistoryEvent = RoundBegun | Begun | Viewed | Ended | Fault | Lost | Missed | Settled;

type Unstamped<E> = E extends HistoryEvent ? Omit<E, 'atMs'> : never;

/** Records events, and writes each to a file if there is one. */
export class Recorder implements Disposable {
  readonly #file: number | undefined;
  #events: HistoryEvent[] = [];
  #calls = 0;

  constructor(file?: string) {
    this.#file = file === undefined ? undefined : openSync(file, 'w');
  }

  /** Whether a site has acknowledged one of these operations between two times. */
  hasAcknowledged(
    operations: ReadonlySet<string>,
    at: string,
    sinceMs: number,
    untilMs: number,
  ): boolean {
    const recent = this.#events.filter(({ atMs }) => atMs >= sinceMs && atMs <= untilMs);
    const calls = new Set<number>();
    for (const event of recent)
      if (event.kind === 'begun' && operations.has(event.operation)) calls.add(event.call);
    return recent.some(
      (event) =>
        event.kind === 'ended' &&
        event.outcome === 'success' &&
        event.site === at &&
        calls.has(event.call),
    );
  }

  newCall(): number {
    this.#calls += 1;
    return this.#calls;
  }

  add(event: Unstamped<HistoryEvent>): void {
    const stamped = { atMs: performance.now(), ...event } as HistoryEvent;
    this.#events.push(stamped);
    if (this.#file !== undefined) writeSync(this.#file, `${JSON.stringify(stamped)}\n`);
  }

  /** Returns the events since the last call of this method. */
  take(): HistoryEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** Reads a file, one list of events for each round. */
export function readHistory(file: string): HistoryEvent[][] {
  const rounds: HistoryEvent[][] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const event = JSON.parse(line) as HistoryEvent;
    if (event.kind === 'round' || rounds.length === 0) rounds.push([]);
    rounds.at(-1)?.push(event);
  }
  return rounds;
}
