/**
 * The part of `ioredis` that is used. It is written here, so that the types fit
 * several versions of the package, and do not need it.
 */

export type RedisArgument = string | Buffer | number;

/** A `Redis` or a `Cluster` of `ioredis`. */
export interface RedisConnection {
  call(command: string, ...args: RedisArgument[]): Promise<unknown>;
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>;
  disconnect(): void;
  /** Only of a `Cluster`. */
  nodes?(role: 'master'): RedisConnection[];
}

/**
 * What each connection has, although the types of `ioredis` lack it. `callBuffer`
 * is no way to run a script: with `enableAutoPipelining` it drops the command.
 */
export interface ScriptConnection extends RedisConnection {
  /** Runs a script. Texts of its reply are bytes. */
  evalBuffer(script: string, keyCount: number, ...keysAndArgs: RedisArgument[]): Promise<unknown>;
  /** The same for a script that the server knows, by its SHA-1. */
  evalshaBuffer(sha: string, keyCount: number, ...keysAndArgs: RedisArgument[]): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}
