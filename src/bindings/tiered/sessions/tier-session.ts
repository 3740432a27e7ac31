/** What a session has seen of the objects of a tiered binding. */
import type { Operation } from '../../../correctable/operation.ts';

/** Returns whether a state at `have` has every write up to `need`. */
export type Reached = (have: unknown, need: unknown) => boolean;

/** One read in a session. It is judged by what the session had seen before. */
export interface GuardedRead {
  /**
   * Whether the final view is decided, although it may not be delivered yet. An early view that
   * came between would make it go back.
   */
  readonly isDecided: boolean;
  /** Returns whether an early view shows all that the session has seen. */
  canShow(version: unknown): boolean;
  recordEarly(version: unknown): void;
  /** Returns whether a final view is certainly older than the session. */
  isBehind(version: unknown): boolean;
  recordFinal(version: unknown): void;
}

/** Notes a write of the session. `undefined`: its version is unknown. */
export type RecordWrite = (version: unknown) => void;

/** What one session has seen. */
export interface TierSession {
  /** What its token carries. */
  readonly state: unknown;
  beginRead(operation: Operation): GuardedRead;
  /** Begins a write. What it returns is called once it was made. */
  beginWrite(operation: Operation): RecordWrite;
}
