/**
 * Where an engine of the red log is plugged in: how a site's node of it is made, and what has to be known of the messages
 * of its nodes. Each engine has a folder beside `sequenced/`, and only who puts a deployment together names it.
 */
import type { Origin } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { Shape } from '../records/shapes.ts';
import type { LogEntry, LogMessage, RedLog, RedLogOptions } from './log.ts';

/** An engine of the red log. */
export interface RedLogEngine {
  /** Makes a site's node of the log, of what the site has of it. */
  make(options: RedLogOptions<RedRecord>): RedLog<RedRecord>;
  readonly messages: LogMessages;
}

/** A record that a message brings, and the site that has proposed it. */
export type Proposed = Pick<LogEntry<RedRecord>, 'origin' | 'record'>;

/**
 * What is asked of the messages of a log's nodes by who carries them. An engine whose nodes meet elsewhere, as those that
 * are clients of servers of their own, sends none.
 */
export interface LogMessages {
  /** By kind: what a message has to look like, given what a record has to. */
  shapes(redRecord: Shape): Readonly<Record<LogMessage['kind'], Shape>>;
  /** What it brings from the site that it is from: of its own, or passed on. */
  proposedIn(message: LogMessage, from: Origin): readonly Proposed[];
  /** Whether what it leads to has to be written down. */
  needsRoom(message: LogMessage): boolean;
  /** The message in two, which say the same one after the other; `undefined` where it has no parts. */
  halvesOf(message: LogMessage): readonly [LogMessage, LogMessage] | undefined;
}
