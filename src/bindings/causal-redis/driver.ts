/**
 * The part of `ioredis` that the binding uses. The types are declared here, so that they fit
 * several versions of the package, and a program can compile without it.
 */

import type { RedisArgument } from '../shared/redis/redis-driver.ts';

export type { RedisArgument };

/** A `Redis` or a `Cluster` of `ioredis`. */
export interface RedisConnection {
  call(command: string, ...args: RedisArgument[]): Promise<unknown>;
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>;
  disconnect(): void;
  /** Present only on a `Cluster`. */
  nodes?(role: 'master'): RedisConnection[];
}

/**
 * Methods that each connection has, although the types of `ioredis` lack them. Scripts are not run
 * by `callBuffer`, because with `enableAutoPipelining` that drops the command.
 */
export interface ScriptConnection extends RedisConnection {
  /**
   * Whether a command is never sent twice, so that a refusal of the server proves that nothing was
   * done. After it has lost a connection, `ioredis` by default sends a command again.
   */
  readonly sendsOnce?: boolean;
  /** Runs a script. Strings in its reply are returned as bytes. */
  evalBuffer(script: string, keyCount: number, ...keysAndArgs: RedisArgument[]): Promise<unknown>;
  /** Runs a script that the server has stored, by its SHA-1. */
  evalshaBuffer(sha: string, keyCount: number, ...keysAndArgs: RedisArgument[]): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}
