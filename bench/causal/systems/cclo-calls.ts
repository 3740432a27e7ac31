/**
 * The messages that clients and partitions of CC-LO send to a partition. Each message carries a
 * Lamport clock.
 */
import type { ServerPlace } from './queueing-network.ts';
import type { Placed } from './store-client.ts';

/** One write that another one depends on. */
export interface Dependency extends Placed {
  readonly key: string;
}

export interface SentVersion extends Placed {
  readonly value: string;
}

interface Clocked {
  readonly clock: number;
}

export interface CcloCalls {
  readonly read: {
    readonly request: Clocked & { readonly reader: number; readonly keys: readonly string[] };
    readonly reply: Clocked & { readonly versions: readonly (SentVersion | undefined)[] };
  };
  readonly put: {
    readonly request: Clocked & {
      readonly key: string;
      readonly value: string;
      readonly dependencies: readonly Dependency[];
    };
    readonly reply: Clocked & { readonly stamp: number };
  };
  /** Does the dependency check and the readers check in one message. */
  readonly check: {
    readonly request: Clocked & { readonly dependencies: readonly Dependency[] };
    readonly reply: Clocked & { readonly readers: readonly number[] };
  };
  /** Has no reply. */
  readonly replicate: {
    readonly request: Clocked & {
      readonly key: string;
      readonly version: SentVersion;
      readonly dependencies: readonly Dependency[];
    };
    readonly reply: object;
  };
}

export type CcloCallName = keyof CcloCalls;

export interface CcloPort {
  call<N extends CcloCallName>(
    to: ServerPlace,
    name: N,
    request: CcloCalls[N]['request'],
    onReply: (reply: CcloCalls[N]['reply']) => void,
  ): void;
}

const READS_OF_CLIENT = 2 ** 20;

/** Returns the id of a read: one number, higher for each later read of the client. */
export function toReadId(client: number, read: number): number {
  return client * READS_OF_CLIENT + read;
}

export function getClient(readId: number): number {
  return Math.floor(readId / READS_OF_CLIENT);
}
