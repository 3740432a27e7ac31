/**
 * The interface of an engine of the red log: how it creates a site's node, and the format of its
 * messages. Each engine has a directory beside `sequenced/`. Only code that sets up a deployment
 * names an engine.
 */
import type { Origin } from '../service/records/origin.ts';
import type { RedRecord } from '../service/records/records.ts';
import type { RecordSchema } from './record-schemas.ts';
import type { LogMessage, RedLog, RedLogOptions } from './red-log.ts';

export interface RedLogEngine {
  /** Creates a site's node of the log from the copy that the site has. */
  createNode(options: RedLogOptions<RedRecord>): RedLog<RedRecord>;
  readonly messages: LogMessageFormat;
  /**
   * Whether servers of its own order the records. Then no site leads, and any site may be retired.
   */
  readonly hasServers?: boolean;
  /**
   * The approximate maximum of bytes of a record. Operations with a larger one fail. Default: no
   * limit
   */
  readonly maxRecordBytes?: number | undefined;
}

/** A record that a message brings, and the site that has proposed it. */
export interface ProposedRecord {
  readonly origin: Origin;
  readonly record: RedRecord;
}

/** The format of the messages of a log's nodes. Clients of servers of their own send none. */
export interface LogMessageFormat {
  /** Returns the schemas by kind, from the schema of a record. */
  createSchemas(redRecord: RecordSchema): Readonly<Record<LogMessage['kind'], RecordSchema>>;
  /** Returns the records that a message contains, proposed by its sender or passed on. */
  getProposedRecords(message: LogMessage, from: Origin): readonly ProposedRecord[];
  /** Whether a message leads to entries that have to be stored. */
  needsRoom(message: LogMessage): boolean;
  /** Divides a message into two with the same meaning. Returns `undefined` if it has no parts. */
  split(message: LogMessage): readonly [LogMessage, LogMessage] | undefined;
}
