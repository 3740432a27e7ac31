/**
 * Callers at work: each does one thing after the other, some in sessions, until it is time; then
 * they read what they knew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../src/server/service/collections/random.ts';
import type { History } from '../history.ts';
import { Actor } from './actor.ts';
import type { KeyAllocator } from './key-allocator.ts';
import { getInput } from './inputs.ts';
import type { ClientSession } from './client-session.ts';
import { drawStep, putAndGet, readMany, readOne, writeOne } from './steps.ts';
import { promised } from './tables.ts';

const CALLERS_PER_SEAT = 3;
/** Between two things that a caller does, on the average. */
const PAUSE_MS = 120;
const PUTS_IN_PEACE = 6;
/** More than it takes to learn what a coordinator does with such reads. */
const READS_IN_PEACE = 16;
const SEVERAL = 4;
const LAST_KEYS = 5;
const TRIES = 4;
const TRY_AGAIN_MS = 300;

/** The callers of all seats: the first of each keeps a session. */
export function actorsAt(seats: readonly ClientSession[], history: History, seed: number): Actor[] {
  return seats.flatMap((subscriber, place) =>
    Array.from({ length: CALLERS_PER_SEAT }, (_, n) => {
      const random = new Random(seed * 1_000 + place * CALLERS_PER_SEAT + n);
      return new Actor(subscriber, history, { name: `caller-${n}`, random, isKept: n === 0 });
    }),
  );
}

export async function work(
  actors: readonly Actor[],
  board: KeyAllocator,
  untilMs: number,
): Promise<void> {
  await Promise.all(
    actors.map(async (actor) => {
      while (performance.now() < untilMs) {
        await drawStep(actor.seat.place.profile, actor.random)({ actor, board });
        await sleep(actor.random.exponential(PAUSE_MS));
      }
    }),
  );
}

/**
 * Starts writes of keys that no other caller writes, in flight when this returns. Their outcomes
 * are checked.
 */
export function beginUpdates(actor: Actor, board: KeyAllocator): void {
  for (const kind of ['put', 'insert', 'update', 'put', 'insert', 'update'] as const) {
    void writeOne({ actor, board }, kind, board.fresh(actor.seat.place.profile.name));
  }
}

/**
 * While there is no fault: reads started together with a put, in sessions; reads of many keys
 * without a session, after one of a single key, which is another kind of read.
 */
export async function workInPeace(actors: readonly Actor[], board: KeyAllocator): Promise<void> {
  await Promise.all(
    actors.map(async (actor) => {
      const { name } = actor.seat.place.profile;
      if (name === 'thin') return;
      const caller = { actor, board };
      if (actor.isKept) for (let n = 0; n < PUTS_IN_PEACE; n += 1) await putAndGet(caller);
      if (actor.isKept || !promised.hasEarlyViews(board.own(name, actor.session))) return;
      await readMany(caller, 1);
      for (let n = 0; n < READS_IN_PEACE; n += 1) await readMany(caller, SEVERAL);
    }),
  );
}

/** After all was healed: each session reads the keys that it has used last. */
export async function readAgain(
  actors: readonly Actor[],
  board: KeyAllocator,
  history: History,
): Promise<void> {
  const scanKeys = new Map<string, Set<string>>();
  for (const call of history.calls) {
    const { writes = [], reads = [], isKept } = getInput(call);
    if (isKept !== true || call.key.includes('/typed')) continue;
    const keys = scanKeys.get(call.session) ?? new Set();
    for (const key of [...writes.map((write) => write.key), ...reads]) {
      keys.delete(key); // To the end: those used last count.
      keys.add(key);
    }
    scanKeys.set(call.session, keys);
  }
  await Promise.all(
    actors.map(async (actor) => {
      for (const key of [...(scanKeys.get(actor.session) ?? [])].slice(-LAST_KEYS))
        await readPatiently(actor, board, key);
    }),
  );
}

async function readPatiently(actor: Actor, board: KeyAllocator, key: string): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { outcome } = await readOne({ actor, board }, key, 'invokeStrong', {
      isAfterwards: true,
    });
    if (outcome === 'success') return;
    await sleep(TRY_AGAIN_MS);
  }
}
