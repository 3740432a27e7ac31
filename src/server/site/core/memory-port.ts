/** What the parts of a site ask of its memory, and what it reports (docs/spec/storage.md). */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../service/generator/generator-runner.ts';

/** About how many bytes a site has in memory, by what takes them. */
export interface MemoryUse {
  readonly rows: number;
  /** Replies of writes, and identifiers, that are kept for resends. */
  readonly replies: number;
  /** The commits with which red operations are compared. */
  readonly window: number;
  /** Entries of logs that are kept for other sites, or wait to be delivered. */
  readonly logs: number;
  /** Operations in flight, and those that are not visible yet. */
  readonly waiting: number;
}

export interface MemoryStatus {
  readonly use: MemoryUse;
  /** The sum of `use`. */
  readonly bytes: number;
  /** `undefined` if there is no limit. */
  readonly maxBytes: number | undefined;
  /** The rows by table, the largest one first. */
  readonly tables: readonly (readonly [table: string, bytes: number])[];
}

/** `low`: an operator should act. `full`: updates are refused too. */
export type MemoryLevel = 'enough' | 'low' | 'full';

export interface MemoryPort {
  /** Why all updates are refused, if they are. */
  readonly fullRejection: CorrectableError | undefined;
  /** The same for all red updates: the records that end them would not be taken. */
  readonly redRejection: CorrectableError | undefined;
  /** Counts an own update that begins. The rows have it only at the end of the turn. */
  noteBegun(): void;
  /** Returns why an operation with this outcome is refused, if it is. */
  findRejection(outcome: GeneratorOutcome): CorrectableError | undefined;
  /** Whether the error is one of these. They are temporary, so that no slot records them. */
  isRejection(error: CorrectableError): boolean;
}
