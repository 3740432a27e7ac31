import type { PartOptions } from './site-core.ts';

/**
 * Whether this site does for a red log what one site has to do: the leader of the log, or the first
 * member if servers order its records.
 *
 * @param partition the ordinal of the partition whose log it is
 */
export function isActingFor(
  { site, origins, redLeader, redLogs }: PartOptions,
  partition: number,
): boolean {
  const leader = partition === 0 ? redLeader : redLogs?.[partition - 1]?.leader;
  return site === (leader ?? origins.members[0]);
}
