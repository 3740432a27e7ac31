/** One round: users work while faults come and go; then all is healed, and each site is asked what it has. */
import { setMaxListeners } from 'node:events';
import type { Site } from '../../engines/wan.ts';
import type { Operation } from '../../src/index.ts';
import { Random } from '../../src/server/collections/random.ts';
import { pause } from '../histories/pause.ts';
import type { ChaosDeployment } from './deployment.ts';
import { chaos, type Overview } from './contract.ts';
import { disturb, type Stage } from './faults/disturb.ts';
import type { Plan } from './faults/plan.ts';
import type { Recorder } from './history.ts';
import { User, type Result } from './user.ts';
import { createScene, lookAt, openSales, work, WORKLOADS, type Scene, type WorkloadName } from './workload.ts';

const USERS: readonly Site[] = ['ireland', 'frankfurt', 'virginia', 'frankfurt', 'ireland', 'virginia'];
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
  readonly progress: (line: string) => void;
}

/** Plays a round. All that happened is recorded. */
export async function playRound(options: RoundOptions): Promise<void> {
  const { deployment, recorder, seed, lastsMs, progress, plan, workload } = options;
  const scene = createScene(seed);
  recorder.add({ kind: 'round', seed, ...scene });
  const users = await openUsers(options);
  try {
    await openSales(users, scene);
    const ending = new AbortController();
    const { signal } = ending;
    setMaxListeners(Infinity, signal);
    const stage: Stage = { deployment, users, recorder, progress };
    const working = users.map((user) => work(user, { scene, others: users, workload: WORKLOADS[workload] }, signal));
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
  await settle(options, scene);
}

function openUsers({ deployment, recorder, seed }: RoundOptions): Promise<User[]> {
  const open = (home: Site, n: number): Promise<User> =>
    User.open({ name: `${seed}:${home}${n}`, deployment, home, recorder, random: new Random(seed * 1_000 + n) });
  return Promise.all(USERS.map(open));
}

/** Waits until all sites answer and show the same, and records what they show. */
async function settle({ deployment, recorder, seed, progress }: RoundOptions, scene: Scene): Promise<void> {
  const untilMs = performance.now() + SETTLE_MS;
  const observers = await Promise.all(
    deployment.sites.map((home) =>
      User.open({ name: `${seed}:at ${home}`, deployment, home, recorder, random: new Random(seed), isBound: true }),
    ),
  );
  try {
    await Promise.all(observers.map((observer) => takesUpdates(observer, scene, untilMs)));
    await drain(observers[0] as User, scene);
    for (;;) {
      const looks = await Promise.all(observers.map((observer) => observer.call(lookAt(scene, ['strong']))));
      const shown = looks.map(({ outcome, value }) => (outcome === 'success' ? (value as Overview) : null));
      const isSettled = !shown.includes(null) && new Set(shown.map((view) => JSON.stringify(view))).size === 1;
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

/** A site that was healed has to take blue and red updates again. */
async function takesUpdates(observer: User, { keys }: Scene, untilMs: number): Promise<void> {
  const [profile = ''] = keys.profiles;
  const [value = ''] = keys.values;
  const [blue, red] = [observer.newName(), observer.newName()];
  await repeatUntil(untilMs, () =>
    observer.call({
      name: 'write',
      key: profile,
      input: blue,
      operation: chaos.write({ key: profile, value: blue }),
      idempotencyKey: blue,
    }),
  );
  await repeatUntil(untilMs, () =>
    observer.call({
      name: 'put',
      key: value,
      input: red,
      operation: chaos.put({ key: value, value: red }),
      idempotencyKey: red,
    }),
  );
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
