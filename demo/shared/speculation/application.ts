/**
 * An application that follows references (Correctables, OSDI 2016, §4.2): it reads references, then
 * fetches the referenced things. The ad server and the timelines are two of them; they are measured
 * by the same code.
 */

/** `correctable` speculates on the preliminary references; `baseline` waits for the final ones. */
export const WAYS = ['baseline', 'correctable'] as const;
export type Way = (typeof WAYS)[number];

/** Callbacks that follow the course of one request. */
export interface Watch {
  /** Called when the references have arrived: a preliminary view of them, or the final one. */
  references(ids: readonly string[], final: boolean): void;
  /**
   * Called when the things of these references are being fetched. `signal` aborts if the references
   * turn out wrong.
   */
  fetching(ids: readonly string[], signal: AbortSignal | undefined): void;
  /** Called when the application has delivered the things of these references. */
  delivered(ids: readonly string[]): void;
}

export interface Application<T = unknown> {
  /** Users have numbers from 0. */
  readonly users: number;
  /** Serves one request of a user. Resolves when it is delivered. */
  fetch(user: number, way: Way, watch: Watch): PromiseLike<readonly T[]>;
  /** Changes the references of a user. */
  change(user: number, random: () => number): PromiseLike<unknown>;
}
