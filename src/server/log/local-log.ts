/** The logs of a site, and what they report to their holder. */

/**
 * The kind of a log of a site: the site's own entries, its copy of the red log of `main`, or its
 * copy of the red log of the partition with this ordinal.
 */
export type LogKind = 'local' | 'red' | PartitionLogKind;
export type PartitionLogKind = `red-${number}`;

/** The logs that every site has, in the order in which they are handled. */
export const LOG_KINDS = ['local', 'red'] as const;

/** Returns the kind of the red log of the partition with this ordinal. */
export function getRedKind(partition: number): LogKind {
  return partition === 0 ? 'red' : `red-${partition}`;
}

/**
 * Returns the ordinal of the partition whose red log this is. It is `undefined` for the site's own
 * log.
 */
export function getPartitionOf(kind: LogKind): number | undefined {
  if (kind === 'local') return undefined;
  return kind === 'red' ? 0 : Number(kind.slice('red-'.length));
}

/** The number of a holder of a log. Each holder has a larger one than those before. */
export type Term = number;

/**
 * The events that a log reports to its holder. After `onFenced` or `onFailed` it reports nothing.
 */
export interface LocalLogListener {
  /**
   * The first `length` entries of a log, from its very beginning, are synced: they can no longer be
   * lost.
   */
  onSynced(log: LogKind, length: number): void;

  /**
   * Another holder has the log: entries that were appended and not reported as synced do not count.
   */
  onFenced(error: Error): void;

  /**
   * The log cannot be written any more. It is unknown which unsynced entries are there, so none
   * counts.
   */
  onFailed(error: Error): void;
}
