/** What sites write into logs and send each other: operations of both colours, as plain data. */
import type { Effect } from './effect.ts';
import type { Reply } from './reply.ts';
import type { Vector } from './vector.ts';

/** Names an operation for ever: what makes a retry the same operation. */
export type OperationId = string;

/** The part that both colours share. */
export interface ShadowRecord {
  readonly id: OperationId;
  /** Index of the site where the generator ran. */
  readonly site: number;
  /** The chosen shadow operation; none for a path that changes nothing. */
  readonly shadow?: string;
  readonly args?: unknown;
  readonly effects: readonly Effect[];
  /** The reply, unless the shadow operation makes it from the results of its effects. */
  readonly reply: Reply;
}

/** A committed blue operation in the stream of its site. */
export interface BlueOperation extends ShadowRecord {
  /** Its place in the stream of its site, counted from 1. */
  readonly sequence: number;
  /** What it depends on; its own entry is its stamp. */
  readonly vector: Vector;
}

/** A red operation as proposed: it commits where the red log's prefix lets it. */
export interface RedOperation extends ShadowRecord {
  readonly kind: 'operation';
  /** Counts the times that the generator has run for the log. */
  readonly attempt: number;
  /** The snapshot on which the generator ran; its red entry is the red stamp really read. */
  readonly snapshot: Vector;
  /** What certification compares: see `read-set.ts`. */
  readonly reads: readonly string[];
  /** Clock of the proposer: decides last-writer-wins, and the commit stamp is at least this. */
  readonly clock: number;
}

/** Ends an operation that was rejected too often: nothing of it can commit after this. */
export interface CloseRecord {
  readonly kind: 'close';
  readonly id: OperationId;
  readonly site: number;
}

/** Takes a place in the red order for strong reads of one site. */
export interface MarkerRecord {
  readonly kind: 'marker';
  readonly id: OperationId;
  readonly site: number;
}

/** An entry of the red log. */
export type RedRecord = RedOperation | CloseRecord | MarkerRecord;

/** An entry of a site's own log. Nothing of it counts before it is synced. */
export type LocalEntry =
  /** A blue operation, of this site or received from another one. */
  | { readonly kind: 'blue'; readonly operation: BlueOperation }
  /** The answer to a named operation that changed nothing: whoever asks again gets the same. */
  | { readonly kind: 'answer'; readonly id: OperationId; readonly reply: Reply }
  /** A named operation was handed over to the red log: from now on it is red, whatever its generator says. */
  | { readonly kind: 'handover'; readonly id: OperationId };

/** What sites tell each other about their blue streams. */
export type BlueMessage =
  /** Operations of the sender's stream, in order. */
  | { readonly kind: 'blue.operations'; readonly operations: readonly BlueOperation[] }
  /** All operations of the receiver's stream up to this one are synced at the sender. */
  | { readonly kind: 'blue.received'; readonly sequence: number }
  /** The sender's stream has got to this operation; answered by `blue.received`. */
  | { readonly kind: 'blue.heartbeat'; readonly sequence: number }
  /** The sender lacks the receiver's operations after this one. */
  | { readonly kind: 'blue.resend'; readonly after: number };
