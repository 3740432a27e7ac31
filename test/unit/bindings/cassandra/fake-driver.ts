/**
 * The real driver's classes with a client that the test answers for: what it was asked, when it
 * answers, how it fails.
 */
import cassandraDriver from 'cassandra-driver';
import {
  cassandra,
  type CassandraBinding,
  type CassandraDriver,
  type CassandraOptions,
  type DriverQueryOptions,
  type DriverResult,
  type LevelsOf,
} from '../../../../src/bindings/cassandra/index.ts';
import type { ExecutionRetryPolicy } from '../../../../src/bindings/cassandra/driver-policies.ts';
import { removeMark } from '../../../../src/bindings/cassandra/prepared-texts.ts';
import { createClient, type Client } from '../../../../src/index.ts';

/** One statement in the hands of the test. */
export interface Executed {
  /** Without the mark of a prepared text. */
  readonly cql: string;
  /** As the driver has it. */
  readonly text: string;
  readonly params: readonly unknown[];
  readonly options: DriverQueryOptions;
  readonly consistency: string;
  answer(result?: DriverResult): void;
  fail(error: Error): void;
}

export interface FakeDriver {
  readonly driver: CassandraDriver;
  /** Options of each client that was made. */
  readonly made: Record<string, unknown>[];
  /** All statements so far. */
  readonly executed: Executed[];
  /** Returns the next statement that no call of `next` has returned. */
  next(): Promise<Executed>;
  /** Answers every statement on the spot from now on. */
  answerAll(answer: (executed: Executed) => DriverResult | Error): void;
  /** What `connect` does. Default: resolves. */
  connect: () => Promise<void>;
  shutdowns: number;
  /** What it knows of prepared statements. Default: nothing. */
  metadata: object | undefined;
}

const { types } = cassandraDriver;

/** By the codes of the native protocol. */
const NAMES = new Map<unknown, string>(
  Object.entries({
    1: 'ONE',
    2: 'TWO',
    3: 'THREE',
    4: 'QUORUM',
    5: 'ALL',
    6: 'LOCAL_QUORUM',
    7: 'EACH_QUORUM',
    10: 'LOCAL_ONE',
  }),
);

export function fakeDriver(): FakeDriver {
  const waiting: ((executed: Executed) => void)[] = [];
  let answerOf: ((executed: Executed) => DriverResult | Error) | undefined;
  let taken = 0;
  class Client {
    constructor(options: Record<string, unknown>) {
      fake.made.push(options);
    }

    get metadata(): object | undefined {
      return fake.metadata;
    }

    connect(): Promise<void> {
      return fake.connect();
    }

    execute(
      text: string,
      params: unknown[] = [],
      options: DriverQueryOptions = {},
    ): Promise<DriverResult> {
      // The driver asks its policies for a node just before it sends.
      const { execution } = (options.retry ?? {}) as Partial<ExecutionRetryPolicy>;
      if (execution?.canSend() === false)
        return Promise.reject(new cassandraDriver.errors.NoHostAvailableError({}));
      return new Promise((resolve, reject) => {
        const executed: Executed = {
          cql: removeMark(text),
          text,
          params,
          options,
          consistency: NAMES.get(String(options.consistency)) ?? 'unset',
          answer: (result = {}) => resolve(result),
          fail: reject,
        };
        fake.executed.push(executed);
        const value = answerOf?.(executed);
        if (value instanceof Error) reject(value);
        else if (value !== undefined) resolve(value);
        const next = waiting.shift();
        if (next === undefined) return;
        taken += 1;
        next(executed);
      });
    }

    shutdown(): Promise<void> {
      fake.shutdowns += 1;
      return Promise.resolve();
    }
  }
  const fake: FakeDriver = {
    driver: {
      ...cassandraDriver,
      Client: Client as unknown as CassandraDriver['Client'],
    } as unknown as CassandraDriver,
    made: [],
    executed: [],
    connect: () => Promise.resolve(),
    shutdowns: 0,
    metadata: undefined,
    next() {
      const executed = fake.executed[taken];
      if (executed !== undefined) {
        taken += 1;
        return Promise.resolve(executed);
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    answerAll(answer) {
      answerOf = answer;
    },
  };
  return fake;
}

const PLACE = { contactPoints: ['a'], keyspace: 'shop' } as const;

/** A binding over such a driver, and a client of it. */
export function openFake<const O extends Partial<CassandraOptions>>(
  options: O = {} as O,
): {
  readonly fake: FakeDriver;
  readonly binding: CassandraBinding<LevelsOf<typeof PLACE & O>>;
  readonly client: Client<LevelsOf<typeof PLACE & O>>;
} {
  const fake = fakeDriver();
  const binding = cassandra({ ...PLACE, driver: fake.driver, ...options }) as CassandraBinding<
    LevelsOf<typeof PLACE & O>
  >;
  return { fake, binding, client: createClient(binding) };
}

/** The two reads of one operation, whichever was sent first. */
export async function bothReads(
  fake: FakeDriver,
): Promise<{ readonly weak: Executed; readonly strong: Executed }> {
  const reads = [await fake.next(), await fake.next()];
  const at = (consistency: string): Executed =>
    reads.find((read) => read.consistency === consistency) as Executed;
  return { weak: at('ONE'), strong: at('QUORUM') };
}

/** An error message of a server, as the driver gives it. */
export function responseError(code: number, message: string, details: object = {}): Error {
  return Object.assign(new cassandraDriver.errors.ResponseError(code, message), details);
}

/** The row of a value in the table of `get`, written at so many microseconds. */
export function valueRow(key: string, value: unknown, written: number): object {
  return { key, value: JSON.stringify(value), written: types.Long.fromNumber(written) };
}

export const UNAVAILABLE: Error = responseError(
  0x1000,
  'Not enough replicas (2 required but only 1 alive)',
);
