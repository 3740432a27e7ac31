/** Places in the logs of one site. */
import { LOG_KINDS, type LogKind, type PartitionLogKind } from './local-log.ts';

/**
 * A place in each of a site's logs. A log of a partition that is not named has no entry before the
 * place.
 */
export interface LogPositions {
  readonly local: number;
  readonly red: number;
  readonly [partition: PartitionLogKind]: number;
}

/** The same, while it is counted. */
export interface LogCounts {
  local: number;
  red: number;
  [partition: PartitionLogKind]: number;
}

/** Returns the kinds of the logs that one of these names, in order. */
export function getLogKinds(...positions: readonly object[]): readonly LogKind[] {
  const partitions = positions.flatMap((item) => Object.keys(item).filter(isPartitionKind));
  if (partitions.length === 0) return LOG_KINDS;
  return [...LOG_KINDS, ...new Set(partitions)];
}

/** Returns the positions of an object that has other fields too. */
export function pickPositions(found: LogPositions): LogCounts {
  const picked: LogCounts = { local: found.local, red: found.red };
  for (const kind of getLogKinds(found)) picked[kind] = found[kind] ?? 0;
  return picked;
}

/** Whether each place of `positions` is at or before that of `limit`. */
export function isAtMost(positions: LogPositions, limit: LogPositions): boolean {
  if (positions.local > limit.local || positions.red > limit.red) return false;
  return getLogKinds(positions).every((kind) => (positions[kind] ?? 0) <= (limit[kind] ?? 0));
}

/** Returns the earlier place in each log. */
export function getEarlier(a: LogPositions, b: LogPositions): LogPositions {
  const earlier: LogCounts = { local: 0, red: 0 };
  for (const kind of getLogKinds(a, b)) earlier[kind] = Math.min(a[kind] ?? 0, b[kind] ?? 0);
  return earlier;
}

export function countEntry(counts: LogCounts, log: LogKind): void {
  counts[log] = (counts[log] ?? 0) + 1;
}

function isPartitionKind(name: string): name is PartitionLogKind {
  return name.startsWith('red-');
}
