/**
 * A run as plain data, so that a page can draw it and a worker can send it. Sites have numbers from
 * 1 on.
 */

/** What a message is for, as the legend of a time line names it. */
export const MESSAGE_GROUPS = [
  'blue',
  'red',
  'order',
  'acknowledgement',
  'heartbeat',
  'request',
] as const;
export type MessageGroup = (typeof MESSAGE_GROUPS)[number];

export interface RecordedMessage {
  readonly kind: string;
  readonly group: MessageGroup;
  readonly from: number;
  readonly to: number;
  readonly sentAtMs: number;
  /** When it arrived, or when the network lost it. */
  readonly endedAtMs: number;
  /** `down`: it has arrived at a site that did not run. */
  readonly fate: 'delivered' | 'down' | 'lost' | 'cut';
  readonly text: string;
}

/** A time during which a site did not work as usual. */
export interface RecordedOutage {
  readonly site: number;
  readonly kind: 'down' | 'paused' | 'disk full';
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}

/** A time during which the network did not carry messages from one site to another. */
export interface RecordedCut {
  readonly from: number;
  readonly to: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A moment at a site. `blue`, `red`: an operation has become visible there. */
export interface RecordedMark {
  readonly site: number;
  readonly kind: 'blue' | 'red' | 'rejected' | 'started' | 'deposed' | 'halted';
  readonly atMs: number;
  readonly text: string;
}

export interface RecordedView {
  readonly atMs: number;
  readonly site: number;
  readonly stage: string;
  readonly value: string;
}

/** An operation of a client, with the views that it got. */
export interface RecordedOperation {
  readonly id: string;
  readonly client: number;
  /** As in a call: `withdraw({ key: 'joint' })`. */
  readonly call: string;
  readonly level: string;
  readonly submittedAtMs: number;
  readonly views: readonly RecordedView[];
  /** When it got its first final view, or its failure. Absent if it got none. */
  readonly endedAtMs?: number | undefined;
  readonly error?: string | undefined;
}

export interface RecordedRun {
  readonly seed: number;
  readonly profile: string;
  readonly siteCount: number;
  /** The sites that others ask to order red operations. */
  readonly leaders: readonly number[];
  readonly clientCount: number;
  readonly endMs: number;
  readonly messages: readonly RecordedMessage[];
  readonly outages: readonly RecordedOutage[];
  readonly cuts: readonly RecordedCut[];
  readonly marks: readonly RecordedMark[];
  readonly operations: readonly RecordedOperation[];
  /** The property that did not hold, if there is one. */
  readonly violation?: { readonly checker: string; readonly message: string } | undefined;
}
