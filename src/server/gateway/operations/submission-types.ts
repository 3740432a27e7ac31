/** What a submission is made from, and what it needs of its surroundings. */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { Codec, EncodedMessage } from '../../../protocol/codec/codec.ts';
import type { ServerMessage } from '../../../protocol/messages/server-messages.ts';
import type { SiteMove } from '../../../protocol/messages/submit.ts';
import type { ConnectionLoad, LoadSlot } from '../limits/in-flight-load.ts';

/** Where the rows of a submission go: the client's present connection. */
export interface Outlet {
  /** Whether far too much waits to be sent already. */
  readonly isFull: boolean;
  push(row: ServerMessage): void;
  /** Pushes a row that the client's codec has encoded. */
  pushEncoded(row: EncodedMessage): void;
  /** The last row about the operation was pushed. */
  onEnded(id: number): void;
}

/** What all submissions of one client share. */
export interface SubmissionOwner {
  readonly record: RetainedClient;
  readonly codec: Codec;
  /** The levels of the hosted binding. */
  readonly levels: readonly string[];
  /** The largest row of a view, in bytes. */
  readonly maxResultBytes: number;
  /** Reports failures, and what a binding does against its interface. */
  onAnomaly(operation: string, description: string, error?: unknown): void;
}

/** What is kept of the client. */
export interface RetainedClient {
  /** Unique name of the client: with an operation's number it names the operation. */
  readonly key: string;
  /** Up to this number the client has acknowledged all its updates. */
  readonly acknowledged: number;
  /** Takes so many bytes more to keep something of the client's, if there is room for them. */
  tryReserve(bytes: number): boolean;
  /** The same, whether there is room or not. */
  reserve(bytes: number): void;
  /** Gives back what was taken. */
  release(bytes: number): void;
  /** What is remembered of an update from now on: that it has ended, and how. */
  onEnded(update: RepeatableWrite & { readonly id: number }, as: RepeatableWrite): void;
}

/** An update as it is remembered, for a repetition of it: in flight, or ended. */
export interface RepeatableWrite {
  /** Sends the rows to a new connection, beginning with what is known already, in full. */
  repeat(outlet: Outlet, load: ConnectionLoad): void;
  /** The connection is gone, but its client may come back. */
  detach(): void;
  /** Forgets the reply, which will not be requested again. Returns the bytes that it retained. */
  forget(): number;
}

/** What a submission is made from. */
export interface SubmissionOptions {
  readonly id: number;
  /** Name of the operation, for reports. */
  readonly name: string;
  /** That the result of an update cannot be sent does not undo it. */
  readonly isWrite: boolean;
  /** Whether its reply is kept for a repetition: that of an update, unless the store remembers it itself. */
  readonly isRetained: boolean;
  /** Index of the strongest requested level: a view at it or above is the last. */
  readonly strongest: number;
  /** When its time is up, by `now` of the clock of the process. */
  readonly deadlineAt: number | undefined;
  readonly trace: unknown;
  readonly session?: BindingSession | undefined;
  /** Where it was sent first, if it has moved. */
  readonly move?: SiteMove | undefined;
  /** The client's name for it, the same for every connection of its principal. */
  readonly idempotencyKey?: string | undefined;
  /** Its own until the store is done with it. */
  readonly slot: LoadSlot;
}
