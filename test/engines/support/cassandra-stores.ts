/** Clients over each way to a Cassandra cluster, and what a program sees of their operations. */
import type { CassandraBinding } from '../../../src/bindings/cassandra/index.ts';
import {
  createClient,
  isCorrectableError,
  type Client,
  type Correctable,
} from '../../../src/index.ts';
import { WAYS, type Place, type Way, type WayOptions } from './cassandra-read-strategies.ts';

type Levels = readonly ['weak', 'strong'];

/** An operation of a store. */
export type ByLevel = Correctable<unknown, Levels>;

export interface Store {
  /** The name of its way. */
  readonly way: string;
  readonly store: Client<Levels>;
  /** What speaks to Cassandra: here, or in the gateway. */
  readonly binding: CassandraBinding<Levels>;
  close(): Promise<void>;
}

export async function openStore(way: Way, place: Place, options: WayOptions = {}): Promise<Store> {
  const { binding, store, close } = await way.open(place, options);
  return { way: way.name, store: createClient(binding), binding: store, close };
}

/** A store for each way. */
export function openStores(place: Place, options: WayOptions = {}): Promise<Store[]> {
  return Promise.all(WAYS.map((way) => openStore(way, place, options)));
}

/**
 * What a program sees of one operation: its views in their order, and the code of the error that
 * ended it, if one did.
 */
export interface Seen {
  readonly views: readonly (readonly [level: string, value: unknown])[];
  readonly error: string | undefined;
}

/**
 * Waits for the end of an operation. Errors that are none of a Correctable's appear by their
 * message.
 */
export async function seen(operation: ByLevel): Promise<Seen> {
  const views: (readonly [string, unknown])[] = [];
  try {
    for await (const { level, value } of operation) views.push([level, value]);
    return { views, error: undefined };
  } catch (error) {
    return {
      views,
      error: isCorrectableError(error) ? error.code : `not translated: ${(error as Error).message}`,
    };
  }
}

/** The same value early and finally. */
export function both(value: unknown): Seen {
  return {
    views: [
      ['weak', value],
      ['strong', value],
    ],
    error: undefined,
  };
}
