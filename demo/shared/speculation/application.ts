/**
 * An application that chases references (Correctables, OSDI 2016, §4.2): it reads references, then fetches what they
 * name. The ad server and the timelines are two of them; they are measured by the same code.
 */

/** `correctable` speculates on the preliminary references; `baseline` waits for the final ones. */
export const WAYS = ['baseline', 'correctable'] as const;
export type Way = (typeof WAYS)[number];

/** Callbacks that follow the course of one request. */
export interface Watch {
  /** The references have come: a preliminary view of them, or the final one. */
  references(ids: readonly string[], final: boolean): void;
  /** What these references name is being fetched; `signal` aborts when they turn out wrong. */
  fetching(ids: readonly string[], signal: AbortSignal | undefined): void;
  /** The application has handed out what these references name. */
  delivered(ids: readonly string[]): void;
}

export interface Application<T = unknown> {
  /** Users have numbers from 0. */
  readonly users: number;
  /** Serves one request of a user; ends when it is delivered. */
  fetch(user: number, way: Way, watch: Watch): PromiseLike<readonly T[]>;
  /** Changes the references of a user. */
  change(user: number, random: () => number): PromiseLike<unknown>;
}
