/**
 * One round: users work while faults come and go; then all is healed, and each site is asked what
 * it has.
 */
import { setMaxListeners } from 'node:events';
import type { Site } from '../../engines/wan.ts';
import type { Operation } from '../../src/index.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { pause } from '../histories/pause.ts';
import type { ChaosDeployment } from './deployment.ts';
import { chaos, type Overview } from './contract.ts';
import { disturb, type Stage } from './faults/disturb.ts';
import type { Plan } from './faults/plan.ts';
import type { Recorder } from './history.ts';
import { User, type Result, type Step } from './user.ts';
import { SERVICES, type ChaosService } from './services.ts';
import type { Scene } from './steps.ts';
import { serviceOf, work, WORKLOADS, type WorkloadName } from './workload.ts';

const USERS: readonly Site[] = [
  'ireland',
  'frankfurt',
  'virginia',
  'frankfurt',
  'ireland',
  'virginia',
];
/** What was held up for long has to be sent, and a node that was started has to recover. */
const SETTLE_MS = 90_000;
const DRAIN_MS = 15_000;
const LOOK_AGAIN_MS = 300;

export interface RoundOptions {
  readonly deployment: ChaosDeployment;
  readonly recorder: Recorder;
  readonly seed: number;
  /** How long users work. */
  readonly lastsMs: number;
  readonly plan: Plan;
  readonly workload: WorkloadName;
  readonly partitions: number;
  readonly progress: (line: string) => void;
}

/** Plays a round. All that happened is recorded. */
export async function playRound(options: RoundOptions): Promise<void> {
  const { deployment, recorder, seed, lastsMs, progress, plan, workload } = options;
  const service: ChaosService = SERVICES[serviceOf(workload)];
  const scene = service.createScene(seed, options.partitions);
  recorder.add({ kind: 'round', seed, ...scene });
  const users = await openUsers(options, service);
  try {
    await service.open(users, scene);
    const ending = new AbortController();
    const { signal } = ending;
    setMaxListeners(Infinity, signal);
    const stage: Stage = { deployment, users, recorder, progress };
    const working = users.map((user) =>
      work(user, { scene, others: users, workload: WORKLOADS[workload] }, signal),
    );
    const disturbing = Object.values(plan).map((faults) => disturb(stage, faults, signal));
    await pause(lastsMs);
    ending.abort();
    await Promise.all(disturbing);
    for (const user of users) user.heal();
    progress('healed');
    await Promise.all(working);
  } finally {
    await Promise.all(users.map((user) => user.close()));
  }
  await settle(options, service, scene);
}

function openUsers(
  { deployment, recorder, seed }: RoundOptions,
  { contract }: ChaosService,
): Promise<User[]> {
  const open = (home: Site, n: number): Promise<User> => {
    const random = new Random(seed * 1_000 + n);
    return User.open({ name: `${seed}:${home}${n}`, deployment, contract, home, recorder, random });
  };
  return Promise.all(USERS.map(open));
}

/** Waits until all sites answer and show the same, and records what they show. */
async function settle(
  { deployment, recorder, seed, progress }: RoundOptions,
  { contract, createProbes, lookAt }: ChaosService,
  scene: Scene,
): Promise<void> {
  const untilMs = performance.now() + SETTLE_MS;
  const observers = await Promise.all(
    deployment.sites.map((home) => {
      const what = { name: `${seed}:at ${home}`, random: new Random(seed), isBound: true };
      return User.open({ ...what, deployment, contract, home, recorder });
    }),
  );
  try {
    await Promise.all(
      observers.map((observer) => takesUpdates(observer, createProbes(observer, scene), untilMs)),
    );
    await drain(observers[0] as User, scene);
    for (;;) {
      const looks = await Promise.all(
        observers.map((observer) => observer.call(lookAt(scene, ['strong']))),
      );
      const shown = looks.map(({ outcome, value }) =>
        outcome === 'success' ? (value as Overview) : null,
      );
      const isSettled =
        !shown.includes(null) && new Set(shown.map((view) => JSON.stringify(view))).size === 1;
      if (isSettled || performance.now() > untilMs) {
        for (const [n, site] of deployment.sites.entries()) {
          recorder.add({ kind: 'settled', site, overview: shown[n] ?? null });
        }
        progress(isSettled ? 'settled' : 'NOT settled');
        return;
      }
      await pause(LOOK_AGAIN_MS);
    }
  } finally {
    await Promise.all(observers.map((observer) => observer.close()));
  }
}

/** A site that was healed has to take updates again. */
async function takesUpdates(
  observer: User,
  probes: readonly (() => Step)[],
  untilMs: number,
): Promise<void> {
  for (const createStep of probes) await repeatUntil(untilMs, () => observer.call(createStep()));
}

/** Takes what is left in the queues. */
async function drain(observer: User, { queues }: Scene): Promise<void> {
  for (const queue of queues) {
    const operation = chaos.dequeue({ queue }) as Operation<unknown>;
    for (let item: unknown = {}; item !== null && item !== undefined;) {
      const idempotencyKey = observer.newName();
      const untilMs = performance.now() + DRAIN_MS;
      const taken = await repeatUntil(untilMs, () =>
        observer.call({ name: 'dequeue', key: queue, operation, idempotencyKey }),
      );
      item = taken.outcome === 'success' ? taken.value : null;
    }
  }
}

async function repeatUntil(untilMs: number, call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    const result = await call();
    if (result.outcome === 'success' || performance.now() > untilMs) return result;
    await pause(LOOK_AGAIN_MS);
  }
}
