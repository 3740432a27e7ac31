/**
 * Faults of the servers of etcd that keep the red log. One server is disturbed at a time, or all of
 * them.
 */
import type { Site } from '../../../engines/wan.ts';
import { pause } from '../../histories/pause.ts';
import type { EtcdServers } from '../etcd-servers.ts';
import type { Disturbance } from './disturb.ts';

/** How long sites may take to notice what has become of etcd. */
const NOTICE_MS = 30_000;
const POLL_MS = 50;

type EtcdDisturbance = Disturbance & { readonly etcd: EtcdServers };

async function killServer({ etcd: { cluster }, wait }: EtcdDisturbance, site: Site): Promise<void> {
  await cluster.kill(site);
  await wait();
  await cluster.restart(site);
}

async function freezeServers(
  { etcd: { cluster }, wait }: EtcdDisturbance,
  sites: readonly Site[],
): Promise<void> {
  for (const site of sites) cluster.signal(site, 'SIGSTOP');
  await wait();
  for (const site of sites) cluster.signal(site, 'SIGCONT');
}

/**
 * The server refuses to serve, or takes what it lacks from the others. If it refuses, an empty one
 * takes its place.
 */
async function startOnOldDisk({
  etcd,
  fault: { site },
  wait,
  progress,
}: EtcdDisturbance): Promise<void> {
  await etcd.copyDisks([site]);
  await wait();
  await etcd.putBackDisks([site]);
  if (await etcd.servesOnOldDisk(site)) return;
  progress(`the etcd server of ${site} does not serve on its older disk: it is replaced`);
  await etcd.replace(site);
}

/** Sites have to report it. */
async function useUpQuota(disturbance: EtcdDisturbance): Promise<void> {
  const { etcd, wait } = disturbance;
  const isReported = watchAlarms(disturbance, ['red-log-full']);
  try {
    await etcd.useUpQuota();
    const hasBeen = await isReported((sites) => sites > 0);
    if (!hasBeen)
      disturbance.recorder.add({ kind: 'missed', text: 'no site has reported that etcd is full' });
    await wait();
  } finally {
    await etcd.freeQuota();
  }
}

/**
 * Sites have to halt their red log, unless nothing was lost. Then it goes on from the longest copy
 * of a site.
 */
async function startAllOnOldDisks(disturbance: EtcdDisturbance): Promise<void> {
  const { etcd, wait, progress } = disturbance;
  const { sites } = etcd.cluster;
  await etcd.copyDisks(sites);
  await wait();
  const areHalted = watchAlarms(disturbance, ['red-log-halted', 'red-log-differs']);
  await etcd.putBackDisks(sites);
  await etcd.untilAllServe(progress);
  const all = await areHalted((count) => count === sites.length);
  const some = all || (await areHalted((count) => count > 0, 0));
  progress(all ? 'all sites have halted' : some ? 'some sites have halted' : 'no site has halted');
  if (some) await etcd.restoreRed();
}

/** Returns a function that waits until enough sites have raised one of these alarms since now. */
function watchAlarms(
  { deployment }: EtcdDisturbance,
  kinds: readonly string[],
): (isEnough: (sites: number) => boolean, withinMs?: number) => Promise<boolean> {
  const read = (): readonly number[] =>
    deployment.processes.map(({ alarms }) =>
      kinds.reduce((sum, kind) => sum + (alarms[kind] ?? 0), 0),
    );
  const before = read();
  return async (isEnough, withinMs = NOTICE_MS) => {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const count = read().filter((times, place) => times > (before[place] ?? 0)).length;
      if (isEnough(count)) return true;
      if (performance.now() > untilMs) return false;
      await pause(POLL_MS);
    }
  };
}

/** Waits for faults of the servers that began earlier. Without servers of etcd it does nothing. */
function disturbEtcd(
  run: (disturbance: EtcdDisturbance) => Promise<void>,
): (disturbance: Disturbance) => Promise<void> {
  return async (disturbance) => {
    const { etcd } = disturbance.deployment;
    await etcd?.runAlone(() => run({ ...disturbance, etcd }));
  };
}

export const ETCD_FAULTS = {
  'etcd-kill': disturbEtcd((it) => killServer(it, it.fault.site)),
  'etcd-kill-leader': disturbEtcd(async (it) =>
    killServer(it, (await it.etcd.cluster.leader()) ?? it.fault.site),
  ),
  'etcd-freeze': disturbEtcd((it) => freezeServers(it, [it.fault.site])),
  'etcd-freeze-majority': disturbEtcd((it) =>
    freezeServers(
      it,
      it.etcd.cluster.sites.filter((site) => site !== it.fault.site),
    ),
  ),
  'etcd-old-member': disturbEtcd(startOnOldDisk),
  'etcd-full': disturbEtcd(useUpQuota),
  'etcd-old-disks': disturbEtcd(startAllOnOldDisks),
} as const;
