/** The part of `ioredis` that is used, so that the types do not need the package. */
import { CorrectableError } from '../../correctable/errors.ts';

/** Commands that are sent at once. */
export interface ValkeyBatch {
  call(command: string, ...args: (string | number)[]): unknown;
  exec(): Promise<readonly (readonly [Error | null, unknown])[] | null>;
}

/** A `Redis` of `ioredis`. */
export interface ValkeyClient {
  readonly status: string;
  connect(): Promise<void>;
  /** Commands of one transaction. */
  multi(): ValkeyBatch;
  pipeline(): ValkeyBatch;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  disconnect(): void;
}

export interface ValkeyDriver {
  readonly Redis: new (options: never) => ValkeyClient;
}

/** Not a literal, so that bundlers do not look for an absent package. */
const PACKAGE: string = 'ioredis';

/** @throws CorrectableError `UNSUPPORTED` naming the package */
export async function loadDriver(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<ValkeyDriver> {
  try {
    return (await load(PACKAGE)) as ValkeyDriver;
  } catch (cause) {
    const message = `the Valkey binding needs the package ${PACKAGE}: npm install ${PACKAGE}`;
    throw new CorrectableError('UNSUPPORTED', message, { cause });
  }
}
