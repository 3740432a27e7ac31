/**
 * What users do in a round: operations of all kinds, one after the other, retried as a user retries
 * them.
 */
import type { Operation } from '../../src/index.ts';
import { pause } from '../histories/pause.ts';
import { drawShare, type Shares } from '../histories/repeat.ts';
import { chaos } from './contract.ts';
import { TRANSFERS } from './bank.ts';
import { nameRows } from './partition.ts';
import { insist, pick, type Draw, type Scene } from './steps.ts';
import type { Result, Step, User } from './user.ts';

const THINK_MS = 60;
const AMOUNT_MAX = 9;
const SEATS = 150;
const TICKETS = 40;
const ATTEMPTS_MAX = 4;
/** A page is loaded again some time after the answer. */
const REPEAT_AFTER_MS = [0, 3_000] as const;
const RETRY_MS = [100, 1_500] as const;

export function createScene(seed: number, partitions: number): Scene {
  const named = (...names: string[]): string[] => nameRows(seed, partitions, names);
  const halls = named('gala', 'opera');
  return {
    queues: named('concert', 'fair'),
    seats: Object.fromEntries(
      halls.map((hall, n) => [hall, n === 0 ? SEATS : Math.round(SEATS / 4)]),
    ),
    keys: {
      accounts: named('rich', 'poor'),
      halls,
      profiles: named('p1', 'p2', 'p3'),
      values: named('v1', 'v2'),
    },
  };
}

/** Puts seats and tickets on sale. Throws if that fails again and again. */
export async function openSales(users: readonly User[], { seats, queues }: Scene): Promise<void> {
  const [user] = users as [User];
  for (const [hall, count] of Object.entries(seats)) {
    const operation = chaos.open({ hall, seats: count });
    await insist(user, {
      name: 'open',
      key: hall,
      input: count,
      operation,
      idempotencyKey: user.newName(),
    });
  }
  const [queue = ''] = queues;
  const enqueueSome = async (seller: User): Promise<void> => {
    for (let n = 0; n < TICKETS / users.length; n += 1) {
      const item = seller.newName();
      const operation = chaos.enqueue({ queue, item }) as Operation<unknown>;
      const idempotencyKey = seller.newName();
      await insist(seller, { name: 'enqueue', key: queue, input: item, operation, idempotencyKey });
    }
  };
  await Promise.all(users.map(enqueueSome));
}

const MIXED: Shares<Draw> = [
  [0.17, (user, scene) => payment(user, scene, 'deposit')],
  [0.13, (user, scene) => payment(user, scene, 'withdraw')],
  [0.13, sale],
  [0.1, dequeue],
  [0.05, enqueue],
  [0.06, (user, scene) => assignment(user, scene.keys.values, 'put')],
  [0.06, (user, scene) => assignment(user, scene.keys.values, 'swap')],
  [0.08, strongRead],
  [0.09, (user, scene) => assignment(user, scene.keys.profiles, 'write')],
  [0.09, causalRead],
  [0.04, look],
];
/** What one user writes, others soon know. */
const BLUE: Shares<Draw> = [
  [0.15, (user, scene) => payment(user, scene, 'deposit')],
  [0.3, (user, scene) => assignment(user, scene.keys.profiles, 'write')],
  [0.35, causalRead],
  [0.2, lookNearby],
];

/** Red operations that depend on blue ones. */
const PAYMENTS: Shares<Draw> = [
  [0.4, (user, scene) => payment(user, scene, 'deposit')],
  [0.3, (user, scene) => payment(user, scene, 'withdraw')],
  [0.3, lookNearby],
];

/** Blue operations whose names a site keeps by itself. */
const DEPOSITS: Shares<Draw> = [
  [0.85, (user, scene) => payment(user, scene, 'deposit')],
  [0.15, lookNearby],
];

interface Workload {
  readonly draws: Shares<Draw>;
  /** Share of updates with an idempotency key. */
  readonly named: number;
  /** Share of those that are submitted once more after they are acknowledged. */
  readonly repeated: number;
  /** Default: `chaos` */
  readonly service?: 'bank';
  /** Users do what they must not: they run a transaction again if its outcome is unknown. */
  readonly isCareless?: boolean;
}

/** What users do, by name. */
export const WORKLOADS = {
  mixed: { draws: MIXED, named: 0.35, repeated: 0.15 },
  blue: { draws: BLUE, named: 0.2, repeated: 0.15 },
  payments: { draws: PAYMENTS, named: 0.35, repeated: 0.15 },
  retries: { draws: DEPOSITS, named: 1, repeated: 0.6 },
  bank: { service: 'bank', draws: TRANSFERS, named: 0, repeated: 0 },
  'careless-bank': { service: 'bank', draws: TRANSFERS, named: 0, repeated: 0, isCareless: true },
} as const satisfies Readonly<Record<string, Workload>>;
export type WorkloadName = keyof typeof WORKLOADS;

/** Returns the service that a workload works on. */
export function serviceOf(name: WorkloadName): 'chaos' | 'bank' {
  const workload: Workload = WORKLOADS[name];
  return workload.service ?? 'chaos';
}

const READS: ReadonlySet<string> = new Set(['get', 'read', 'look']);

interface Work {
  readonly scene: Scene;
  /** Users who may repeat a call of this one. */
  readonly others: readonly User[];
  readonly workload: Workload;
}

/** Works until `signal` is aborted. */
export async function work(
  user: User,
  { scene, others, workload }: Work,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const step = drawShare(user.random, workload.draws)(user, scene);
    if (READS.has(step.name) || !user.random.chance(workload.named)) {
      const { outcome } = await user.call(step);
      const { timeoutMs: _, ...patient } = step;
      if (workload.isCareless === true && outcome === 'UNKNOWN') await user.call(patient);
    } else {
      const isRepeated = user.random.chance(workload.repeated);
      await retry(
        user,
        { ...step, idempotencyKey: user.newName() },
        isRepeated ? others : [],
        signal,
      );
    }
    await pause(user.random.exponential(THINK_MS), signal);
  }
}

/**
 * Submits an update under one name until it is acknowledged or refused, then once more if there is
 * who could do that.
 */
async function retry(
  user: User,
  step: Step,
  others: readonly User[],
  signal: AbortSignal,
): Promise<void> {
  let result: Result | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    result = await user.call(step);
    if (result.outcome !== 'UNKNOWN' && !result.isRetryable) break;
    await pause(user.random.between(...RETRY_MS), signal);
  }
  if (result?.outcome !== 'success' || others.length === 0) return;
  await pause(user.random.between(...REPEAT_AFTER_MS), signal);
  const other = user.random.chance(0.5) ? user : user.random.pick(others as [User, ...User[]]);
  await other.call(step);
}

function payment(user: User, { keys }: Scene, name: 'deposit' | 'withdraw'): Step {
  const account = pick(user, keys.accounts);
  const id = user.newName();
  const isLarge = name === 'withdraw' && user.random.chance(0.4);
  const amount = user.random.between(1, isLarge ? 3 * AMOUNT_MAX : AMOUNT_MAX);
  return {
    name,
    key: account,
    input: { id, amount },
    operation: chaos[name]({ account, id, amount }),
  };
}

function sale(user: User, { keys }: Scene): Step {
  const hall = pick(user, keys.halls);
  const id = user.newName();
  return { name: 'sell', key: hall, input: id, operation: chaos.sell({ hall, id }) };
}

function enqueue(user: User, { queues }: Scene): Step {
  const queue = pick(user, queues);
  const item = user.newName();
  return {
    name: 'enqueue',
    key: queue,
    input: item,
    operation: chaos.enqueue({ queue, item }) as Operation<unknown>,
  };
}

function dequeue(user: User, { queues }: Scene): Step {
  const queue = pick(user, queues);
  return { name: 'dequeue', key: queue, operation: chaos.dequeue({ queue }) as Operation<unknown> };
}

function assignment(user: User, keys: readonly string[], name: 'put' | 'swap' | 'write'): Step {
  const key = pick(user, keys);
  const value = user.newName();
  return { name, key, input: value, operation: chaos[name]({ key, value }) as Operation<unknown> };
}

function strongRead(user: User, { keys }: Scene): Step {
  const key = pick(user, keys.values);
  return { name: 'get', key, operation: chaos.get({ key }), levels: ['strong'] };
}

function causalRead(user: User, { keys }: Scene): Step {
  const key = pick(user, keys.profiles);
  return { name: 'read', key, operation: chaos.read({ key }), levels: ['causal'] };
}

/** Requests all that the round writes into. */
function look(user: User, scene: Scene): Step {
  return lookAt(scene, user.random.chance(0.5) ? ['causal'] : ['causal', 'strong']);
}

/** Requests what the nearest site shows, which is there at once. */
function lookNearby(_: User, scene: Scene): Step {
  return lookAt(scene, ['causal']);
}

export function lookAt({ keys }: Scene, levels: NonNullable<Step['levels']>): Step {
  const { accounts, halls, profiles, values } = keys;
  const args = {
    accounts: [...accounts],
    halls: [...halls],
    profiles: [...profiles],
    values: [...values],
  };
  return { name: 'look', key: 'all', operation: chaos.look(args), levels };
}

/** Updates that a healed site has to take: a blue one and a red one. */
export function createProbes(observer: User, { keys }: Scene): readonly (() => Step)[] {
  const [profile = ''] = keys.profiles;
  const [value = ''] = keys.values;
  const [blue, red] = [observer.newName(), observer.newName()];
  const write = chaos.write({ key: profile, value: blue });
  const put = chaos.put({ key: value, value: red });
  return [
    () => ({ name: 'write', key: profile, input: blue, operation: write, idempotencyKey: blue }),
    () => ({ name: 'put', key: value, input: red, operation: put, idempotencyKey: red }),
  ];
}
