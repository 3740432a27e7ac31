/**
 * Operations: plain data that names what to do, so that it can cross a wire (Correctables, OSDI
 * 2016, §3.2).
 */

import type { FinalLevels } from './level-types.ts';

declare const resultType: unique symbol;
declare const finalLevels: unique symbol;

/**
 * The effect of an operation on the store. A submitted update runs to its end for any requested
 * levels.
 */
export type Access = 'read' | 'write';

/**
 * An operation on a replicated object. Made by typed builders such as `get(key)` or
 * `dequeue(queue)`.
 *
 * Only `name`, `args`, `access` and `key` cross a wire; `equals` stays with the client.
 *
 * `T` is the type of the result. `R` names the levels that its views, the final included, can have,
 * if a contract specifies them.
 */
export interface Operation<out T = unknown, out R extends FinalLevels = FinalLevels> {
  readonly name: string;
  readonly args: unknown;
  readonly access: Access;
  /** The object that the operation acts on, used for routing, caching and ordering. */
  readonly key?: string;
  /**
   * Returns whether two results mean the same to the application. Default: structural equality.
   * Decides `confirms` and whether a speculation holds, never what is delivered.
   */
  equals?(a: T, b: T): boolean;
  /** Carries the result type; never present at run time. */
  readonly [resultType]?: T;
  /** Carries the levels that its views can have; never present at run time. */
  readonly [finalLevels]?: R;
}

/** The result type of an operation. */
export type ResultOf<O extends Operation> = O extends Operation<infer T> ? T : never;
