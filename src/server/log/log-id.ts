/** Names of logs: a partition at a site has two of them. */

/** What a log is for: the site's own entries, or its copy of the red order. */
export type LogKind = 'local' | 'red';

/** Names a log of a site: by its kind alone in partition 0, `local.3` and `red.3` in partition 3. */
export type LogId = LogKind | `${LogKind}.${number}`;

/** The logs of one partition. */
export type LogIds = Readonly<Record<LogKind, LogId>>;

/** Both kinds, in the order in which what is done to all of them is done. */
export const LOG_KINDS = ['local', 'red'] as const;

/** @param partition an integer from 0 on */
export function createLogIds(partition = 0): LogIds {
  return partition === 0 ? { local: 'local', red: 'red' } : { local: `local.${partition}`, red: `red.${partition}` };
}

/** What the log is for. */
export function getLogKind(log: LogId): LogKind {
  return log.startsWith('red') ? 'red' : 'local';
}
