/** One round: workers work and suffer; then all is healed, callers leave, each site is looked at, and all is judged. */
import { setMaxListeners } from 'node:events';
import { SITES, type Site } from '../../../engines/wan.ts';
import type { Call } from '../history.ts';
import { pause } from '../pause.ts';
import { Caller } from './caller.ts';
import { disturbConnections, disturbServer } from './nemesis.ts';
import { checkRound } from './check-round.ts';
import type { Fixture, Worker } from './fixture.ts';
import { work } from './workload.ts';

const CALLER_SITES: readonly Site[] = ['ireland', 'frankfurt', 'virginia', 'frankfurt', 'ireland', 'virginia'];
const WORKERS = 3;
const LEAVES_EVERY_MS = [2_000, 5_000] as const;
/** Blue operations travel after the end of the calls. */
const SETTLE_MS = 20_000;
const LOOK_AGAIN_MS = 200;

/** Plays a round and returns its faults. `calls` returns those of the history so far. */
export async function runRound(stage: Fixture, lastsMs: number, calls: () => readonly Call[]): Promise<string[]> {
  const from = calls().length;
  const callers = CALLER_SITES.map((site, n) => Caller.open(stage.server, `${site}${n}`, site));
  stage.callers.push(...(await Promise.all(callers)));
  await play(stage, lastsMs);
  stage.progress('healed, and all calls have ended');
  await Promise.all(stage.callers.map((caller) => caller.close()));
  const last = await lookEverywhere(stage);
  const workload = calls().slice(from);
  return checkRound({ calls: workload, last });
}

async function play(stage: Fixture, lastsMs: number): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  setMaxListeners(Infinity, signal);
  const parts = () => ({ stage, random: stage.random(), signal });
  const disturbing = [disturbConnections(parts()), disturbServer(parts())];
  stage.workers.push(...stage.callers.flatMap((caller) => workersOf(stage, caller)));
  const working = stage.workers.map((worker) => work(stage, worker, signal));
  const leaving = leaveNowAndThen(stage, signal, working);
  await pause(lastsMs);
  ending.abort();
  await Promise.all([...disturbing, leaving]);
  for (const caller of stage.callers) caller.up();
  await Promise.all(working);
}

function workersOf(stage: Fixture, caller: Caller): Worker[] {
  return Array.from({ length: WORKERS }, (_, n) => ({
    name: `${caller.name}-${n}`,
    caller,
    session: caller.session(),
    random: stage.random(),
  }));
}

/** A client that has no more than a moment to live, with calls under way when it is closed. */
async function leaveNowAndThen(stage: Fixture, signal: AbortSignal, working: Promise<void>[]): Promise<void> {
  const random = stage.random();
  for (let guests = 1; ; guests += 1) {
    await pause(random.between(...LEAVES_EVERY_MS), signal);
    if (signal.aborted) return;
    const guest = await Caller.open(stage.server, `guest${guests}`, random.pick(SITES));
    const going = new AbortController();
    working.push(...workersOf(stage, guest).map((worker) => work(stage, worker, going.signal)));
    await pause(random.between(100, 1_500), signal);
    going.abort();
    stage.injected.add('clients closed at work');
    await guest.close();
  }
}

/** What each site shows at last, and what is left in the queues. */
async function lookEverywhere(stage: Fixture): Promise<ReadonlyMap<Site, Call>> {
  const observers = await Promise.all(SITES.map((site) => Caller.open(stage.server, `the observer at ${site}`, site)));
  try {
    const workers = observers.map((caller) => ({ ...(workersOf(stage, caller)[0] as Worker), name: caller.name }));
    await drain(stage, workers[0] as Worker);
    const untilMs = performance.now() + SETTLE_MS;
    for (;;) {
      const looks = await Promise.all(workers.map((worker) => stage.look(worker, 'invokeStrong')));
      const isSettled = new Set(looks.map(({ output }) => JSON.stringify(output))).size === 1;
      if (isSettled || performance.now() > untilMs) return new Map(SITES.map((site, n) => [site, looks[n] as Call]));
      await pause(LOOK_AGAIN_MS);
    }
  } finally {
    await Promise.all(observers.map((caller) => caller.close()));
  }
}

async function drain(stage: Fixture, worker: Worker): Promise<void> {
  const isItem = ({ outcome, output }: Call): boolean => outcome === 'success' && output !== null;
  for (const queue of stage.queues) while (isItem(await stage.dequeue(worker, queue)));
}
