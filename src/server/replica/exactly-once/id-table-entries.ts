/** Operations and clients as a table of identifiers keeps them. */
import type { Fifo } from '../../collections/fifo.ts';
import type { OperationWindow } from './operation-window.ts';

/** An identifier at or below its client's watermark. */
export const EXPIRED = Symbol('expired');

/** Number of retained outcomes of operations, and about how many bytes their replies take. */
export interface RetainedReplyStats {
  readonly operations: number;
  readonly bytes: number;
}

/** Retained replies by log: `own` for the log of the site, `red` for the red log. */
export interface RetainedReplies {
  readonly own: RetainedReplyStats;
  readonly red: RetainedReplyStats;
}

/** A principal of which clients are remembered. */
export interface PrincipalEntry<T> {
  readonly name: string;
  clients: number;
  /** Its operations that are held, and what their values take. */
  size: number;
  bytes: number;
  /** Those in the order in which they came; among them, for a while, some that have left. */
  order: Fifo<TableOperation<T>>;
}

/** A client that is remembered. */
export interface ClientEntry<T> {
  readonly client: string;
  /** Whose client it is, where its name says so. */
  readonly principal: PrincipalEntry<T> | undefined;
  readonly operations: OperationWindow<TableOperation<T>>;
  watermark: number;
  /** What the values of its operations take. */
  bytes: number;
  /** Heard of since the table last looked for clients to forget. */
  isRecent: boolean;
  /** Its place in the order in which clients are looked at. */
  place: number;
}

/** An operation in its client's window and in the order in which operations came. */
export interface TableOperation<T> {
  readonly entry: ClientEntry<T>;
  readonly sequence: number;
  /** Its place in that order. */
  readonly place: number;
  /** `EXPIRED` once it has left its window: it may be in the order for a while after that. */
  value: T | typeof EXPIRED;
  bytes: number;
}

export function isInWindow<T>({ value }: TableOperation<T>): boolean {
  return value !== EXPIRED;
}
