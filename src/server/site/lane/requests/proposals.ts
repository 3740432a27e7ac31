/**
 * What this site proposes to the red log, and what it must not propose yet. A record must not
 * depend on a blue operation that could be lost with this site: all sites would wait for that
 * operation for ever.
 */
import { Fifo } from '../../../service/collections/fifo.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { OperationId, RedOperation, RedRecord } from '../../../service/records/records.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { Settling } from '../../core/site-part.ts';
import { toStableRun } from './read-dependencies.ts';
import { createOwnDraft, createRecord } from './red-record.ts';
import type { RedRequests } from './red-requests.ts';
import { createMarker } from './strong-reads.ts';

interface PendingRecord {
  readonly record: RedOperation;
  /** The last own blue operation that the record depends on. */
  readonly sequence: number;
}

export class Proposals implements Settling {
  /** Whether a record waits until it is durable what it depends on. */
  isDue = false;
  readonly #core: SiteCore;
  readonly #requests: RedRequests;
  /** Records that wait until their blue dependencies are durable at a second site, in order. */
  readonly #pending = new Fifo<PendingRecord>();
  /** Operations of the site itself that are proposed and not decided. */
  readonly #own = new Set<OperationId>();
  /** By partition: the marker that this start has put into its red log. */
  readonly #markers: (OperationId | undefined)[] = [];
  /** The partitions whose marker has passed. */
  readonly #passed = new Set<number>();

  constructor(core: SiteCore, requests: RedRequests) {
    this.#core = core;
    this.#requests = requests;
  }

  /** Operations of the site itself that are not decided. */
  get ownIds(): ReadonlySet<OperationId> {
    return this.#own;
  }

  /**
   * Whether a marker of this start has passed in the red log of a partition. No proposal of an
   * earlier start comes after it there.
   */
  hasMarkerPassed(partition: number): boolean {
    return this.#passed.has(partition);
  }

  /**
   * Proposes the marker of this start once in the red log of a partition. Returns whether it has
   * passed.
   */
  ensureMarkerPassed(marker: OperationId, partition: number): boolean {
    if (this.#markers[partition] === undefined) {
      this.#markers[partition] = marker;
      const { site } = this.#core.options;
      this.propose(createMarker(marker, site, partition));
    }
    return this.hasMarkerPassed(partition);
  }

  onMarker(id: OperationId, partition: number): void {
    if (id === this.#markers[partition]) this.#passed.add(partition);
  }

  /** Proposes an operation of the site itself, for which no caller waits. */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome, partition: number): void {
    const draft = createOwnDraft(id, outcome, partition);
    this.#own.add(id);
    const run = toStableRun(this.#core, outcome, draft);
    this.proposeWhenDurable(createRecord(this.#core, draft, run, []));
  }

  onDecided(id: OperationId): void {
    this.#own.delete(id);
  }

  proposeWhenDurable(record: RedOperation): void {
    const { applied, durable } = this.#core.ownBlueProgress();
    const request = this.#requests.get(record.id);
    if (request !== undefined) {
      request.record = record;
      request.isProposed = false;
    }
    // A record must not overtake one that it may depend on.
    if (applied <= durable && this.#pending.size === 0) this.propose(record);
    else {
      this.#pending.push({ record, sequence: applied });
      this.isDue = true;
    }
  }

  /** Proposes records whose blue dependencies other sites have by now. */
  settle(): boolean {
    const { durable } = this.#core.ownBlueProgress();
    let hasReleased = false;
    while ((this.#pending.first?.sequence ?? Infinity) <= durable) {
      const { record } = this.#pending.shift() as PendingRecord;
      if (this.#isStillWanted(record)) this.propose(record);
      hasReleased = true;
    }
    this.isDue = !this.#pending.isEmpty;
    return hasReleased;
  }

  /** Drops records whose requests have ended. */
  dropUnwanted(): void {
    this.#pending.filter(({ record }) => this.#isStillWanted(record));
  }

  propose(record: RedRecord): void {
    const request = this.#requests.get(record.id);
    if (request !== undefined) request.isProposed = true;
    this.#core.outputs.propose(record);
  }

  /** Its callers may have given up the record, or it was executed again. */
  #isStillWanted(record: RedOperation): boolean {
    return this.#requests.get(record.id)?.record === record || this.#own.has(record.id);
  }
}
