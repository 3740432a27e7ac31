/**
 * The scratchpad of a generator: a private copy of the state on which it can try shadow operations and go on reading
 * (RedBlue, OSDI 2012, §6: "a temporary private scratchpad"). Nothing of it leaves the run.
 */
import type { Chosen } from '../records/reply.ts';

/** What a generator can do on its private copy. */
export interface Scratchpad {
  /**
   * Applies a shadow operation to the copy and gives what it would reply: `tables` show it from then on. It is
   * replicated only if it is returned as well.
   */
  apply<R>(chosen: Chosen<R>): R;
  /** Forgets what was applied. */
  discard(): void;
}
