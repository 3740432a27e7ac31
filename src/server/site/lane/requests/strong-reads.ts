/**
 * Strong reads in flight whose home is one partition. Each one is a marker in its red log, and is
 * executed when the marker is applied.
 */
import type { Origin } from '../../../service/records/origin.ts';
import type { OperationId, RedRecord } from '../../../service/records/records.ts';
import type { Submission } from '../../core/submissions.ts';

export interface StrongRead {
  readonly submission: Submission;
  readonly record: RedRecord;
}

export class StrongReads {
  readonly #partition: number;
  readonly #reads = new Map<OperationId, StrongRead>();
  /** Reads for which no caller waits any more, and whose markers are in flight to the log. */
  readonly #abandoned = new Set<OperationId>();
  /** Reads whose marker has passed, and that are not answered yet. */
  readonly executing = new Set<OperationId>();

  constructor(partition: number) {
    this.#partition = partition;
  }

  get waitedCount(): number {
    return this.#reads.size + this.executing.size;
  }

  get abandonedCount(): number {
    return this.#abandoned.size;
  }

  /** Begins a read. Returns its marker. */
  begin(id: OperationId, site: Origin, submission: Submission): RedRecord {
    const record = createMarker(id, site, this.#partition);
    this.#reads.set(id, { submission, record });
    return record;
  }

  /** No caller waits for the read any more. Returns the read if it was awaited. */
  abandon(id: OperationId): StrongRead | undefined {
    const read = this.#reads.get(id);
    if (read === undefined) return undefined;
    this.#reads.delete(id);
    this.#abandoned.add(id);
    return read;
  }

  /** No caller waits for any read any more. Returns those that were awaited. */
  takeAll(): readonly StrongRead[] {
    const awaited = [...this.#reads.values()];
    for (const { record } of awaited) this.abandon(record.id);
    return awaited;
  }

  /** The marker of a read has passed, or never will. Returns the submission that waits for it. */
  end(id: OperationId): Submission | undefined {
    const read = this.#reads.get(id);
    this.#reads.delete(id);
    this.#abandoned.delete(id);
    return read?.submission;
  }
}

/** Creates a record that takes a place in the red log of a partition. */
export function createMarker(id: OperationId, site: Origin, partition: number): RedRecord {
  const marker = { kind: 'marker', id, site } as const;
  return partition === 0 ? marker : { ...marker, partition };
}
