/**
 * What sites write into logs and send each other: operations of both colors, as
 * plain data.
 */
import type { DomainErrorInfo, ErrorCode } from '../../correctable/errors.ts';
import type { DeploymentVersion } from './deployment-version.ts';
import type { Effect } from './effect.ts';
import type { ReadRange } from './read-range.ts';
import type { Origin, SiteAddress } from './origin.ts';
import type { Reply } from './reply.ts';
import type { Vector } from './vector.ts';

/**
 * Identifies an operation permanently, as `client/sequence`. A retry with the
 * same id is the same operation.
 */
export type OperationId = string;

/** Why an operation failed for good, as plain data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly field?: string;
  /** Of a refusal that the contract declares. */
  readonly domain?: DomainErrorInfo;
}

/** The part that both colors share. */
export interface ShadowRecord {
  readonly id: OperationId;
  /** The site where the generator ran. */
  readonly site: Origin;
  /** The chosen shadow operation; none for a path that changes nothing. */
  readonly shadow?: string;
  readonly effects: readonly Effect[];
  /**
   * The reply, unless the shadow operation makes it from the results of its
   * effects.
   */
  readonly reply: Reply;
}

/** A committed blue operation in the stream of its site. */
export interface BlueOperation extends ShadowRecord {
  /** Its place in the stream of its site, counted from 1. */
  readonly sequence: number;
  /** What it depends on; its own entry is its stamp. */
  readonly vector: Vector;
  /**
   * Of an operation that may be submitted again: the slot of this site's log
   * that it decides.
   */
  readonly hop?: number;
}

/** One execution of a red operation, among those of one start of a site. */
export type Execution = readonly [id: OperationId, attempt: number];

/**
 * A red operation as proposed: it commits where the red log's prefix lets it.
 */
export interface RedOperation extends ShadowRecord {
  readonly kind: 'operation';
  /** Arguments of the shadow operation, if it makes the reply. */
  readonly args?: unknown;
  /** Counts the times that the generator has run for the log. */
  readonly attempt: number;
  /**
   * Of the start of the site at which it ran: another start may propose the
   * operation with the same number.
   */
  readonly epoch: number;
  /**
   * Earlier operations of the same start, undecided then, whose effects it may
   * have read: it commits only behind them.
   */
  readonly dependencies?: readonly Execution[];
  /**
   * Its client has the answers of all its operations up to this one, so that
   * they can be forgotten.
   */
  readonly acknowledged?: number;
  /**
   * The snapshot on which the generator ran; its red entry is the red stamp
   * really read.
   */
  readonly snapshot: Vector;
  /** The operation of the contract: its result schema holds for the reply. */
  readonly operation: string;
  /**
   * In the place of the reply: the error of the domain that the generator
   * threw.
   */
  readonly domainError?: Failure;
  /** What certification compares: see `read-set.ts`. */
  readonly reads: readonly string[];
  /** Intervals that were scanned. */
  readonly ranges?: readonly ReadRange[];
  /**
   * Names of the rows that the effects bring into being, as far as the red
   * order knows: see `existsByRed`.
   */
  readonly created?: readonly string[];
  /**
   * Clock of the proposer: decides last-writer-wins, and the commit stamp is at
   * least this.
   */
  readonly clock: number;
}

/**
 * Ends an operation that was rejected too often: nothing of it can commit after
 * this.
 */
export interface CloseRecord {
  readonly kind: 'close';
  readonly id: OperationId;
  readonly site: Origin;
  readonly failure: Failure;
}

/** Takes a place in the red order for strong reads of one site. */
export interface MarkerRecord {
  readonly kind: 'marker';
  readonly id: OperationId;
  readonly site: Origin;
}

/**
 * Asks to close the origin that has this name, if any, and with a directory to
 * open another one: join, rebuild, retire.
 */
export interface ChangeRecord {
  readonly kind: 'member';
  readonly action: 'change';
  readonly id: OperationId;
  readonly site: Origin;
  readonly name: string;
  /**
   * The identity of the directory that the site begins on; none of a site that
   * is retired.
   */
  readonly directory: string | null;
  readonly address?: SiteAddress;
  /**
   * The leader of the red log when it was proposed: what the record does must
   * not follow from who leads when it is read.
   */
  readonly leader?: Origin;
}

/** How much of a stream a site holds, synced. */
export type HeldStream = readonly [
  origin: Origin,
  sequence: number,
  stamp: number,
];

/**
 * A site has taken in a change. From then on it takes operations of the closed
 * origin only from other sites.
 */
export interface AckRecord {
  readonly kind: 'member';
  readonly action: 'ack';
  readonly id: OperationId;
  readonly site: Origin;
  /** The place of the change in the red log, from 1 on. */
  readonly change: number;
  /** Of each origin that is being closed. */
  readonly held: readonly HeldStream[];
}

export type MemberRecord = ChangeRecord | AckRecord;

/**
 * A version is in force from this place of the red log on, since all sites run
 * it.
 */
export interface ActivateRecord {
  readonly kind: 'activate';
  readonly id: OperationId;
  readonly site: Origin;
  readonly version: DeploymentVersion;
}

export type RedRecord =
  | RedOperation
  | CloseRecord
  | MarkerRecord
  | MemberRecord
  | ActivateRecord;

/** The final answer of an operation, as it decides a slot. */
export interface ReplyRecord {
  readonly kind: 'record';
  readonly reply?: Reply;
  readonly failure?: Failure;
  /**
   * What the answer depends on, its own effects included: shown elsewhere only
   * where all of that is visible.
   */
  readonly vector: Vector;
}

/**
 * What the first entry of a slot (log, identifier, hop) decides: the reply, a
 * move to another site, or that it is red.
 */
export type SlotDecision =
  | ReplyRecord
  | { readonly kind: 'claim'; readonly site: Origin; readonly hop: number }
  | { readonly kind: 'handover' };

/**
 * A blue operation in the log of a site: one of its own, or received from
 * another one.
 */
export interface BlueEntry {
  readonly kind: 'blue';
  readonly operation: BlueOperation;
  /**
   * Of an own one: how many red records were delivered before it, which proves
   * after a restart that they are committed.
   */
  readonly redDelivered?: number;
  /**
   * Only for an own operation that is being stored: the parts of its
   * identifier, so that no code has to parse it.
   */
  readonly client?: string;
  readonly number?: number;
}

/** An entry of a site's own log. Nothing of it counts before it is synced. */
export type LocalEntry =
  | BlueEntry
  /** The slot of a named operation is decided, without effects. */
  | {
      readonly kind: 'slot';
      readonly id: OperationId;
      readonly hop: number;
      readonly decision: SlotDecision;
    }
  /**
   * A client has the answers of its operations up to `upTo`: their identifiers
   * have expired.
   */
  | { readonly kind: 'expire'; readonly client: string; readonly upTo: number }
  /**
   * So many records of the red log were delivered here: after a restart they
   * are again, before anything is taken.
   */
  | { readonly kind: 'delivered'; readonly redDelivered: number }
  /**
   * The start of a site with this term was accepted, on this directory:
   * messages of earlier ones are not taken any more.
   */
  | {
      readonly kind: 'term';
      readonly site: Origin;
      readonly term: number;
      readonly directory?: string;
    };

/**
 * A place in a stream or log, and the digest of what stands before it where
 * that is known.
 */
export interface StreamPoint {
  readonly length: number;
  readonly digest?: number | undefined;
}

/** What sites send each other about their blue streams. */
export type BlueMessage =
  /**
   * Operations of one origin's stream, in order: of the sender's, or passed on;
   * `digest` is of what stands before them.
   */
  | {
      readonly kind: 'blue.operations';
      readonly operations: readonly BlueOperation[];
      readonly digest?: number | undefined;
    }
  /**
   * All operations of the receiver's stream up to this one are synced at the
   * sender.
   */
  | { readonly kind: 'blue.received'; readonly sequence: number }
  /**
   * The sender's stream has got to this operation; answered by `blue.received`.
   */
  | { readonly kind: 'blue.heartbeat'; readonly sequence: number }
  /**
   * How far the sender has synced the stream of each origin, by ordinal; `asks`
   * for the same in return.
   */
  | {
      readonly kind: 'blue.have';
      readonly synced: readonly number[];
      readonly isRequest: boolean;
    }
  /** The sender lacks the operations of `origin` after this one. */
  | {
      readonly kind: 'blue.resend';
      readonly origin: Origin;
      readonly after: number;
    }
  /**
   * The sender was asked for them, and does not keep the first of them any
   * more.
   */
  | {
      readonly kind: 'blue.gone';
      readonly origin: Origin;
      readonly after: number;
    };

/** What a site asks another one for: rights to a bounded field. */
export interface RightsRequest {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly amount: number;
  /**
   * An operation waits for them: by its site, or for the pool, where they are
   * then handed in.
   */
  readonly target?: 'here' | 'pool';
}

/**
 * Rights are asked for; what comes of it is an operation in the stream of who
 * gives some.
 */
export interface RightsMessage {
  readonly kind: 'rights.request';
  readonly requests: readonly RightsRequest[];
  /**
   * The stamp of the last operation of the receiver that the sender shows: what
   * was given after it is on its way.
   */
  readonly seenStamp: number;
}

/**
 * What sites ask each other to find out what became of an operation that has
 * moved.
 */
export type SlotMessage =
  /**
   * What does the slot say? If nothing yet, then that the operation has gone on
   * to the sender, at hop `by`.
   */
  | {
      readonly kind: 'slot.request';
      readonly id: OperationId;
      readonly hop: number;
      readonly by: number;
    }
  /** The slot's decision, synced; none where the identifier has expired. */
  | {
      readonly kind: 'slot.answered';
      readonly id: OperationId;
      readonly hop: number;
      readonly by: number;
      readonly decision: SlotDecision | undefined;
    };
