/** What the clients of a storm work on: the causal store, or plain Redis as the control. */
import type { WriteOutcome, SiteIndex } from './history.ts';

export interface StormWrite {
  readonly key: string;
  readonly id: string;
  readonly isRemoval: boolean;
}

export interface WriteResult {
  readonly outcome: WriteOutcome;
  readonly stamp: number | undefined;
  /** Why it was not acknowledged. */
  readonly code?: string;
}

export interface ReadResult {
  /** The id of each key's write; `undefined` if the key is absent. */
  readonly ids: readonly (string | undefined)[];
  /** The stamp of the write, of a read of one key. */
  readonly stamp: number | undefined;
}

/** A session of one client. It stays causal when it moves. */
export interface StormSession {
  readonly gateway: number;
  readonly site: SiteIndex;
  write(write: StormWrite): Promise<WriteResult>;
  /** Returns the code of the error instead if the read was refused. */
  read(keys: readonly string[], isLatest: boolean): Promise<ReadResult | string>;
  /** The same session at another gateway. */
  move(gateway: number): StormSession;
}

export interface StormStore {
  /** The site of each gateway. */
  readonly gateways: readonly SiteIndex[];
  openSession(gateway: number): StormSession;
  close(): Promise<void>;
}
