/**
 * Finds out whether an ensemble has lost what a session has seen, after servers have refused the
 * session. All of them are probed, because each has its own reason: one may serve no client, and
 * another one may be of another ensemble.
 */
import type { ServerAddress } from '../../shared/server-address.ts';
import { probeEnsemble, type EnsembleProbeOptions } from './ensemble-probe.ts';

export interface HistoryProbeOptions extends Omit<EnsembleProbeOptions, 'server' | 'onResult'> {
  /** The servers that have refused the session. */
  readonly servers: readonly ServerAddress[];
  /** The number of servers that the client knows. */
  readonly serverCount: number;
  readonly seenZxid: bigint;
  /** Whether the ensemble would have expired the session by now, so that it is lost in any case. */
  readonly isOverdue: boolean;
  /**
   * Called once. `restoredTo` is the last transaction of the ensemble if it has lost what was seen.
   */
  readonly onResult: (restoredTo: bigint | undefined) => void;
}

/**
 * Begins to probe. Returns a function that gives it up.
 *
 * The ensemble has lost what was seen if most of the servers are behind that. Fewer may be strays
 * that a wrong list names, while the ensemble itself is away. They count only if the session is
 * lost in any case, and no other server serves.
 */
export function probeHistory(options: HistoryProbeOptions): () => void {
  const { servers, serverCount, seenZxid, isOverdue, onResult } = options;
  const lower: bigint[] = [];
  let open = servers.length;
  let hasEnded = false;
  const stops: (() => void)[] = [];
  const stop = (): void => {
    hasEnded = true;
    for (const stopProbe of stops) stopProbe();
  };
  const end = (isRestored: boolean): void => {
    stop();
    const zxid = lower.reduce((a, b) => (a > b ? a : b), 0n);
    onResult(isRestored ? zxid : undefined);
  };
  const handleResult = (zxid: bigint | undefined): void => {
    if (hasEnded) return;
    open -= 1;
    if (zxid !== undefined && zxid >= seenZxid) return end(false);
    if (zxid !== undefined) lower.push(zxid);
    if (2 * lower.length > serverCount) end(true);
    else if (open === 0) end(isOverdue && lower.length > 0);
  };
  for (const server of servers)
    stops.push(probeEnsemble({ ...options, server, onResult: handleResult }));
  return stop;
}
