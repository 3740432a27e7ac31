/**
 * Judges the history of a round with the exact checker of the simulator.
 *
 * A read of several keys returns no stamps. So the history is checked when the round is over and
 * the stamps of all writes are known. A write without an answer may stay without a stamp: then the
 * keys that show it are left out of that read.
 */
import type { Version } from '../../../src/causal/version.ts';
import { Counter } from '../../histories/counter.ts';
import {
  FrontierChecker,
  SessionFrontier,
  type WritePlace,
} from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import type {
  FinalState,
  LossAlarm,
  PossibleLoss,
  ReadEnded,
  StormEvent,
  WriteBegun,
  WriteEnded,
} from './history.ts';

export interface Judgement {
  /** One sentence for each of the first faults. */
  readonly faults: readonly string[];
  /** How many there were, by the property that is broken. */
  readonly counts: Readonly<Record<string, number>>;
  /** Acknowledged writes that are gone, as the alarms say. */
  readonly lostWrites: number;
  /** Values that were read, and whose writes have no known stamp. */
  readonly unplacedReads: number;
}

export interface JudgedRound {
  readonly events: readonly StormEvent[];
  readonly losses: readonly PossibleLoss[];
  readonly alarms: readonly LossAlarm[];
  readonly findPartition: (key: string) => number;
}

interface Write {
  readonly begun: WriteBegun;
  readonly ended: WriteEnded | undefined;
  readonly stamp: number | undefined;
  readonly lastSeenMs: number;
}

/** An alarm is not repeated within this time. */
const ALARM_REPEATED_MS = 60_000;
const MAX_FAULTS = 20;

export function judge(round: JudgedRound): Judgement {
  return new Judge(round).run();
}

class Judge {
  readonly #round: JudgedRound;
  readonly #writes: ReadonlyMap<string, Write>;
  readonly #checker: FrontierChecker;
  readonly #sessions = new Map<number, SessionFrontier>();
  readonly #atLeast = new Map<number, ReadonlyMap<string, WritePlace>>();
  /** Removals that have begun, by key. */
  readonly #removals = new Map<string, string[]>();
  readonly #faults: string[] = [];
  readonly #counts = new Counter();
  readonly #lost = new Set<string>();
  #unplacedReads = 0;

  constructor(round: JudgedRound) {
    this.#round = round;
    this.#writes = collectWrites(round.events);
    this.#checker = new FrontierChecker({
      isLost: (id) => this.#isLost(id),
      mayBeForgotten: (key, place) => this.#isRemoved(key, place),
      mayBeRepeated: () => false,
    });
  }

  run(): Judgement {
    for (const event of this.#round.events) this.#check(event);
    const { counts } = this.#counts;
    return {
      faults: this.#faults,
      counts,
      lostWrites: this.#lost.size,
      unplacedReads: this.#unplacedReads,
    };
  }

  #check(event: StormEvent): void {
    switch (event.kind) {
      case 'write-begun':
        if (event.isRemoval)
          this.#removals.set(event.key, [...(this.#removals.get(event.key) ?? []), event.id]);
        return this.#checker.beginWrite(event.id, event.key, this.#session(event.session));
      case 'write-ended':
        return this.#checkWrite(event);
      case 'read-begun':
        if (event.isLatest) this.#atLeast.set(event.read, this.#checker.getAcknowledged());
        return;
      case 'read-ended':
        return this.#checkRead(event);
      case 'final':
        return this.#checkFinal(event);
    }
  }

  #checkWrite({ id, outcome, stamp, session }: WriteEnded): void {
    if (outcome !== 'acknowledged' || stamp === undefined) return;
    const { site } = (this.#writes.get(id) as Write).begun;
    this.#report(this.#checker.endWrite(id, { stamp, site }, this.#session(session)));
  }

  #checkRead(event: ReadEnded): void {
    const session = this.#session(event.session);
    const atLeast = this.#atLeast.get(event.read);
    this.#atLeast.delete(event.read);
    const { keys, versions } = this.#place(event);
    const violation = this.#checker.checkRead(keys, versions, { session, atLeast });
    const { read, gateway, atMs } = event;
    const where = ` (read ${read} of session ${event.session} at gateway ${gateway}, ${Math.round(atMs)} ms)`;
    this.#report(violation && { ...violation, message: violation.message + where });
  }

  #checkFinal(event: FinalState): void {
    const { keys, versions } = this.#place(event);
    this.#report(this.#checker.checkFinal(keys, versions));
  }

  /** Returns the keys whose state can be judged, and the versions that they had. */
  #place({ keys, ids, ...event }: ReadEnded | FinalState): {
    readonly keys: readonly string[];
    readonly versions: readonly (Version | undefined)[];
  } {
    const placed: { readonly key: string; readonly version: Version | undefined }[] = [];
    for (const [at, key] of keys.entries()) {
      const id = ids[at];
      const write = id === undefined ? undefined : this.#writes.get(id);
      if (write?.ended?.outcome === 'refused')
        this.#report({ checker: 'refused', message: `${key} has ${id}, whose write was refused` });
      const read = event.kind === 'read-ended' ? event.stamp : undefined;
      const stamp = read ?? write?.stamp;
      if (write !== undefined && stamp === undefined) this.#unplacedReads += 1;
      else
        placed.push({
          key,
          version: id === undefined ? undefined : createVersion(id, stamp ?? 0, write),
        });
    }
    return { keys: placed.map(({ key }) => key), versions: placed.map(({ version }) => version) };
  }

  /**
   * A removal has no value that a read could show: an absent key may be due to any removal that is
   * not older.
   */
  #isRemoved(key: string, { stamp }: WritePlace): boolean {
    const ids = this.#removals.get(key) ?? [];
    return ids.some((id) => {
      const write = this.#writes.get(id) as Write;
      return write.ended?.outcome !== 'refused' && (write.stamp ?? Infinity) >= stamp;
    });
  }

  /**
   * A write may be lost only if Redis may have lost it, the binding has reported that, and it was
   * never seen after that. What a server acknowledges when it is no master any more, nobody can
   * report.
   */
  #isLost(id: string): boolean {
    if (this.#lost.has(id)) return true;
    const { begun, ended, lastSeenMs } = this.#writes.get(id) as Write;
    const partition = this.#round.findPartition(begun.key);
    const endedMs = ended?.atMs ?? Infinity;
    const isLost = this.#round.losses.some(
      ({ site, partitions, fromMs, toMs, isReported }) =>
        site === begun.site &&
        partitions.has(partition) &&
        begun.atMs <= toMs &&
        endedMs >= fromMs &&
        lastSeenMs <= toMs &&
        (isReported ? this.#wasReported({ site, partition, atMs: fromMs }) : endedMs <= toMs),
    );
    if (isLost) this.#lost.add(id);
    return isLost;
  }

  #wasReported({ site, partition, atMs }: LossAlarm): boolean {
    return this.#round.alarms.some(
      (alarm) =>
        alarm.site === site &&
        alarm.partition === partition &&
        alarm.atMs >= atMs - ALARM_REPEATED_MS,
    );
  }

  #session(session: number): SessionFrontier {
    const known = this.#sessions.get(session) ?? new SessionFrontier();
    this.#sessions.set(session, known);
    return known;
  }

  #report(violation: { readonly checker: string; readonly message: string } | undefined): void {
    if (violation === undefined) return;
    this.#counts.add(violation.checker);
    if (this.#faults.length < MAX_FAULTS)
      this.#faults.push(`${violation.checker}: ${violation.message}`);
  }
}

function createVersion(id: string, stamp: number, write: Write | undefined): Version {
  const site = write?.begun.site ?? 0;
  return { stamp, site, kind: 'value', expiresAt: 0, dependencies: [], value: id };
}

function collectWrites(events: readonly StormEvent[]): ReadonlyMap<string, Write> {
  const writes = new Map<string, Write>();
  for (const event of events) {
    if (event.kind === 'write-begun')
      writes.set(event.id, {
        begun: event,
        ended: undefined,
        stamp: undefined,
        lastSeenMs: -Infinity,
      });
    else if (event.kind === 'write-ended') {
      const write = writes.get(event.id) as Write;
      writes.set(event.id, { ...write, ended: event, stamp: event.stamp ?? write.stamp });
    } else if (event.kind !== 'read-begun') noteSeen(writes, event);
  }
  return writes;
}

function noteSeen(writes: Map<string, Write>, event: ReadEnded | FinalState): void {
  for (const id of event.ids) {
    const write = id === undefined ? undefined : writes.get(id);
    if (id === undefined || write === undefined) continue;
    const stamp = write.stamp ?? (event.kind === 'read-ended' ? event.stamp : undefined);
    writes.set(id, { ...write, stamp, lastSeenMs: event.atMs });
  }
}
