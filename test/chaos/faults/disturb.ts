/** Does the faults of a plan to a deployment, and makes each good. */
import { pause } from '../../histories/pause.ts';
import type { ChaosDeployment } from '../deployment.ts';
import type { Recorder } from '../history.ts';
import { NORMAL, type ServerProcess } from '../server-process.ts';
import type { User } from '../user.ts';
import { copiedDirectory, lostDirectory, oldCopy, secondProcess } from './directories.ts';
import { ETCD_FAULTS } from './etcd.ts';
import { etcdAt, type LinkEnd } from './links.ts';
import type { FaultKind, PlannedFault } from './plan.ts';

export interface Stage {
  readonly deployment: ChaosDeployment;
  readonly users: readonly User[];
  readonly recorder: Recorder;
  readonly progress: (line: string) => void;
}

export interface Disturbance extends Stage {
  readonly fault: PlannedFault;
  readonly process: ServerProcess;
  /** Waits as long as the fault lasts, or until the round ends. */
  readonly wait: () => Promise<void>;
}

/** Does one fault after the other. Resolves when all are healed. */
export async function disturb(
  stage: Stage,
  faults: readonly PlannedFault[],
  signal: AbortSignal,
): Promise<void> {
  const { deployment, recorder, progress } = stage;
  for (const fault of faults) {
    await pause(fault.pauseMs, signal);
    if (signal.aborted) return;
    const { kind, site, peer, lastsMs, amountMs } = fault;
    progress(`${kind} ${site} (${peer}), ${lastsMs} ms`);
    recorder.add({
      kind: 'fault',
      fault: kind,
      site,
      phase: 'begun',
      details: { peer, lastsMs, amountMs },
    });
    const process = deployment.processOf(site);
    try {
      await FAULTS[kind]({ ...stage, fault, process, wait: () => pause(lastsMs, signal) });
    } catch (error) {
      recorder.add({
        kind: 'missed',
        text: `${kind} of ${site} cannot be healed: ${(error as Error).message}`,
      });
    }
    recorder.add({ kind: 'fault', fault: kind, site, phase: 'ended' });
  }
}

type Do = (disturbance: Disturbance) => Promise<void>;

const FAULTS: Readonly<Record<FaultKind, Do>> = {
  'clients-cut': async ({ users, fault, wait }) => {
    for (const user of users) user.leave(fault.site);
    await wait();
    for (const user of users) user.heal();
  },
  cut: (it) => cut(it, [it.fault.peer]),
  'cut-one-way': ({ deployment: { links }, fault: { site, peer }, wait }) =>
    untilHealed([links?.cut(site, peer)], wait),
  sever: (it) => sever(it, it.fault.peer),
  isolate: (it) =>
    cut(
      it,
      it.deployment.sites.filter((name) => name !== it.fault.site),
    ),
  slow: (it) => slow(it, it.fault.peer),
  kill: async ({ process, wait }) => {
    await process.kill();
    await wait();
    await process.begin();
  },
  end: async ({ process, wait }) => {
    await process.end();
    await wait();
    await process.begin();
  },
  freeze: async ({ process, wait }) => {
    process.freeze();
    await wait();
    process.resume();
  },
  clock: async ({ process, fault: { amountMs }, wait }) => {
    process.setConditions({ ...NORMAL, clockAheadMs: amountMs });
    const isRestarted = amountMs % 2 === 0;
    if (isRestarted) {
      await process.kill();
      await process.begin();
    }
    await wait();
    process.setConditions(NORMAL);
  },
  'full-disk': async ({ process, fault: { amountMs }, wait, recorder }) => {
    process.setConditions({ ...NORMAL, isDiskFull: true });
    // A node writes over its log files for a while. A start needs a new one at once.
    const isRestarted = amountMs % 2 === 0;
    if (isRestarted) await process.kill();
    // The start is refused. In the middle of a join or a rebuild it waits for room instead.
    const starting = isRestarted ? process.start() : undefined;
    let isListening = false;
    void starting?.then((result) => (isListening = result.isListening)).catch(() => undefined);
    await wait();
    if (isListening)
      recorder.add({ kind: 'missed', text: `${process.name} started on a full disk` });
    process.setConditions(NORMAL);
    await starting;
    if (!process.isRunning) await process.begin();
  },
  'long-absence': async ({ process, wait }) => {
    await process.kill();
    await wait();
    await process.begin();
  },
  'second-process': secondProcess,
  'copied-directory': copiedDirectory,
  'old-copy': oldCopy,
  'lost-directory': lostDirectory,
  'etcd-cut': (it) => cut(it, [etcdAt(it.fault.site)]),
  'etcd-isolate': (it) => cut(it, it.deployment.sites.map(etcdAt)),
  'etcd-sever': (it) => sever(it, etcdAt(it.fault.site)),
  'etcd-slow': (it) => slow(it, etcdAt(it.fault.site)),
  ...ETCD_FAULTS,
};

/** Holds all that the site and these ends send to each other. */
function cut(
  { deployment: { links }, fault: { site }, wait }: Disturbance,
  ends: readonly LinkEnd[],
): Promise<void> {
  return untilHealed(
    ends.flatMap((end) => [links?.cut(site, end), links?.cut(end, site)]),
    wait,
  );
}

function sever(
  { deployment: { links }, fault: { site }, wait }: Disturbance,
  end: LinkEnd,
): Promise<void> {
  return untilHealed([links?.sever(site, end)], wait);
}

function slow(
  { deployment: { links }, fault: { site, amountMs }, wait }: Disturbance,
  end: LinkEnd,
): Promise<void> {
  return untilHealed([links?.slow(site, end, amountMs), links?.slow(end, site, amountMs)], wait);
}

async function untilHealed(
  heals: readonly ((() => void) | undefined)[],
  wait: () => Promise<void>,
): Promise<void> {
  await wait();
  for (const heal of heals) heal?.();
}
