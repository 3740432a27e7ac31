/** Lets go of what a site keeps for others that have been away for too long (docs/spec/cluster.md, A1 and A2). */
import type { RedLog } from '../log/red-log.ts';
import type { AbsenceLimits, AbsentSites } from '../messages/absent-sites.ts';
import type { Origin } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import type { ReplicaOptions } from './core/replica-port.ts';
import type { Replica } from './replica.ts';

interface Limits extends Pick<ReplicaOptions, 'observer' | 'resendAfterMs'> {
  readonly absence?: AbsenceLimits | undefined;
  readonly redLeader: Origin | undefined;
}

/** What is kept at a site. */
interface Kept {
  readonly replica: Replica;
  readonly log: Pick<RedLog<RedRecord>, 'getBacklog'>;
  readonly nowMs: number;
  /** Called if a site is left behind from now on. */
  onLeft(): void;
}

export function leaveBehind(
  absent: AbsentSites,
  { absence, observer, redLeader, resendAfterMs }: Limits,
  { replica, log, nowMs, onLeft }: Kept,
): void {
  if (absence === undefined) return;
  const getBacklog = (site: Origin): number => Math.max(replica.blue.getBacklog(site), log.getBacklog?.(site) ?? 0);
  const { left, cutOff } = absent.leaveBehind(nowMs, absence, redLeader, getBacklog);
  if (left.length > 0) onLeft();
  for (const site of left) observer?.onLeftBehind?.(site);
  if (cutOff.length > 0) observer?.onCutOff?.(cutOff, absent.isFull);
  for (const site of absent.takeProbed(nowMs, resendAfterMs)) replica.blue.probe(site);
}
