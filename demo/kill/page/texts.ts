/** The sentences of the kill demo, computed from its state. */
import type { Kill, KillState } from './state.ts';

/**
 * Describes the effects of the latest kill so far. Before the first kill, describes how many writes
 * are acknowledged.
 */
export function formatHeadline({ acknowledged, kills, nowMs }: KillState): string {
  const latest = kills.at(-1);
  if (latest === undefined)
    return `${Math.floor(acknowledged / 100) * 100} writes acknowledged. Kill the server.`;
  if (latest.failure !== undefined) return `The server is not back: ${latest.failure}`;
  if (latest.backAtMs === undefined) {
    return `Killed ${Math.floor((nowMs - latest.atMs) / 1000)} s ago: no write is acknowledged until it is back.`;
  }
  if (latest.lost === undefined)
    return `Back after ${formatSeconds(latest)}: looking for what it had acknowledged…`;
  const lost = kills.reduce((sum, { lost: count = 0 }) => sum + count, 0);
  return `Killed, back after ${formatSeconds(latest)}, lost ${lost} of ${latest.lookedFor} acknowledged writes.`;
}

/** Formats how long the server was down. */
export function formatSeconds({ atMs, backAtMs }: Pick<Kill, 'atMs' | 'backAtMs'>): string {
  return backAtMs === undefined ? '…' : `${((backAtMs - atMs) / 1000).toFixed(1)} s`;
}
