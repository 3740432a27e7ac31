/**
 * Where an engine of the red log is plugged in: how a site's node of it is
 * made, and what has to be known of the messages of its nodes. Each engine has
 * a directory beside `sequenced/`, and only who puts a deployment together
 * names it.
 */
import type { Origin } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { RecordSchema } from '../records/record-schemas.ts';
import type { LogEntry, LogMessage, RedLog, RedLogOptions } from './red-log.ts';

export interface RedLogEngine {
  /** Makes a site's node of the log, of what the site has of it. */
  createNode(options: RedLogOptions<RedRecord>): RedLog<RedRecord>;
  readonly messages: LogMessageFormat;
  /**
   * Whether servers of its own order the records: then no site leads, and any
   * may be retired.
   */
  readonly hasServers?: boolean;
  /**
   * About the largest record that it takes; operations that need a larger one
   * fail. No bound unless given.
   */
  readonly maxRecordBytes?: number | undefined;
}

/** A record that a message brings, and the site that has proposed it. */
export type ProposedRecord = Pick<LogEntry<RedRecord>, 'origin' | 'record'>;

/**
 * What has to be known of the messages of a log's nodes. The clients of servers
 * of their own send none.
 */
export interface LogMessageFormat {
  /** By kind: what a message has to look like, given what a record has to. */
  createSchemas(
    redRecord: RecordSchema,
  ): Readonly<Record<LogMessage['kind'], RecordSchema>>;
  /** What it brings from the site that it is from: of its own, or passed on. */
  getProposedRecords(
    message: LogMessage,
    from: Origin,
  ): readonly ProposedRecord[];
  /** Whether what it leads to has to be written down. */
  needsRoom(message: LogMessage): boolean;
  /**
   * The message in two, which say the same one after the other; `undefined`
   * where it has no parts.
   */
  split(message: LogMessage): readonly [LogMessage, LogMessage] | undefined;
}
