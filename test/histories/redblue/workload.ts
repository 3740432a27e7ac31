/** What workers do all the time: operations of all kinds, in one session each. */
import { pause } from '../pause.ts';
import { drawShare, type Shares } from '../repeat.ts';
import type { Fixture, Worker } from './fixture.ts';

const PAUSE_MS = 40;
const HOW = ['invoke', 'invokeStrong', 'invokeWeak'] as const;
const HOW_TO_READ = ['invoke', 'invokeStrong'] as const;
const AMOUNT_MAX = 9;
/** With more calls at once the order of their effects is not visible. */
const RUSH = 3;

type Act = (stage: Fixture, worker: Worker) => Promise<unknown>;

const ACTIVITIES: Shares<Act> = [
  [0.25, (stage, worker) => stage.note(worker, worker.random.pick(all(stage.rows)))],
  [0.12, (stage, worker) => stage.look(worker, worker.random.pick(HOW))],
  [0.12, (stage, worker) => pay(stage, worker, 'deposit')],
  [0.1, (stage, worker) => pay(stage, worker, 'withdraw')],
  [0.07, (stage, worker) => stage.put(worker, worker.random.pick(all(stage.keys)))],
  [0.07, (stage, worker) => stage.get(worker, worker.random.pick(all(stage.keys)), worker.random.pick(HOW_TO_READ))],
  [0.12, trade],
  [0.08, hold],
  [0.07, duty],
];

export async function work(stage: Fixture, worker: Worker, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await drawShare(worker.random, ACTIVITIES)(stage, worker);
    await pause(worker.random.exponential(PAUSE_MS), signal);
  }
}

function pay(stage: Fixture, worker: Worker, kind: 'deposit' | 'withdraw'): Promise<unknown> {
  const account = worker.random.pick(all(stage.accounts));
  return stage.pay(worker, kind, account, worker.random.between(1, AMOUNT_MAX), worker.random.pick(HOW));
}

/** Of one queue more is taken than is put in. */
async function trade(stage: Fixture, worker: Worker): Promise<void> {
  const [full, empty] = stage.queues as [string, string];
  const { random } = worker;
  const isFull = random.chance(0.5);
  const queue = isFull ? full : empty;
  if (random.chance(isFull ? 0.55 : 0.4)) await stage.enqueue(worker, queue);
  else await Promise.all(Array.from({ length: random.between(1, RUSH) }, () => stage.dequeue(worker, queue)));
}

/** What one gave back, another one asks for at once, perhaps from far away. */
async function hold(stage: Fixture, worker: Worker): Promise<void> {
  const key = worker.random.pick(all(stage.holds));
  if (!(await holdAndGiveBack(stage, worker, key))) return;
  const heir = worker.random.pick(all(stage.workers));
  await holdAndGiveBack(stage, heir, key);
}

/**
 * Claims a hold, and releases it even if the outcome of the claim is unknown. @returns whether it certainly had it and
 * released it
 */
async function holdAndGiveBack(stage: Fixture, worker: Worker, key: string): Promise<boolean> {
  const by = worker.caller.newName();
  const claim = await stage.hold(worker, 'claim', key, by);
  if (claim.outcome === 'success' && claim.output === false) return false;
  if (worker.random.chance(0.7)) await pause(worker.random.exponential(PAUSE_MS));
  const { outcome, output } = await stage.hold(worker, 'release', key, by);
  return outcome === 'success' && output === true;
}

async function duty(stage: Fixture, worker: Worker): Promise<void> {
  const caller = worker.caller.newName();
  const join = await stage.duty(worker, 'join', caller);
  if (join.outcome === 'success') await stage.duty(worker, 'leave', caller);
}

function all<T>(of: readonly T[]): readonly [T, ...T[]] {
  return of as readonly [T, ...T[]];
}
