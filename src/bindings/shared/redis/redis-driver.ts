/** The part of `ioredis` that bindings use, so that the types do not need the package. */
import { CorrectableError } from '../../../correctable/errors.ts';

export type RedisArgument = string | Buffer | number;

/** Commands that are sent at once. */
export interface RedisBatch {
  call(command: string, ...args: RedisArgument[]): unknown;
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>;
}

/** A `Redis` of `ioredis`. */
export interface RedisClient {
  readonly status: string;
  /** The socket, once there is one. */
  readonly stream?:
    | {
        readonly bytesRead?: number;
        readonly writable?: boolean;
        readonly writableLength?: number;
      }
    | undefined;
  connect(): Promise<void>;
  call(command: string, ...args: RedisArgument[]): Promise<unknown>;
  callBuffer(command: string, ...args: RedisArgument[]): Promise<unknown>;
  /** Commands of one transaction. */
  multi(): RedisBatch;
  pipeline(): RedisBatch;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  disconnect(): void;
}

export interface RedisDriver {
  readonly Redis: new (options: object) => RedisClient;
}

/** Not a literal, so that bundlers do not look for an absent package. */
const PACKAGE: string = 'ioredis';

/**
 * Loads `ioredis` for a binding with the name `caller`.
 *
 * @throws CorrectableError `UNSUPPORTED` naming the package
 */
export async function loadRedisDriver(
  caller: string,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<RedisDriver> {
  try {
    return (await load(PACKAGE)) as RedisDriver;
  } catch (cause) {
    const message = `${caller} needs the package ${PACKAGE}: npm install ${PACKAGE}.`;
    throw new CorrectableError('UNSUPPORTED', message, { cause });
  }
}
