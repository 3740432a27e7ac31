/**
 * What a shop does all the time: operations of all kinds on the queues and keys that all shops
 * share.
 */
import type { Random } from '../../../src/server/service/collections/random.ts';
import { pause } from '../pause.ts';
import { drawShare, type Shares } from '../repeat.ts';
import { QUEUE, times, type How, type Scene } from './fixture.ts';
import type { Shop } from './binding-client.ts';

const KEYS = ['a', 'b', 'c'] as const;
const PAUSE_MS = 40;
const HOW = ['invoke', 'invokeStrong'] as const;
const HOW_WEAKLY = ['invokeWeak', 'invokeWeak', 'invoke'] as const;
const HOW_KEYS = ['invoke', 'invokeStrong', 'invokeWeak'] as const;

interface Actor {
  readonly scene: Scene;
  readonly shop: Shop;
  readonly random: Random;
}

/** More is taken than is put in: queues are empty now and then. */
async function trade(
  { scene, shop, random }: Actor,
  queue: string,
  hows: readonly [How, ...How[]],
): Promise<void> {
  const how = random.pick(hows);
  const count = random.between(1, 4);
  if (random.chance(0.45)) await times(count, () => scene.enqueue(shop, queue, how));
  else await times(count, () => scene.dequeue(shop, queue, how));
}

/**
 * Mostly in a session, which promises that nothing seen or written in it is missing from what is
 * read later.
 */
function readValue({ scene, shop, random }: Actor): Promise<unknown> {
  return scene.get(shop, random.pick(KEYS), {
    how: random.pick(HOW_KEYS),
    isOutside: random.chance(0.3),
  });
}

const ACTIVITIES: Shares<(actor: Actor) => Promise<unknown>> = [
  [0.4, (actor) => trade(actor, QUEUE.sale, HOW)],
  [0.15, (actor) => trade(actor, QUEUE.weakly, HOW_WEAKLY)],
  [0.15, (actor) => actor.scene.again.pass(() => trade(actor, QUEUE.again, HOW))],
  [0.05, ({ scene, shop }) => scene.dequeue(shop, QUEUE.mortal)],
  [0.1, ({ scene, shop, random }) => scene.put(shop, random.pick(KEYS), random.pick(HOW_KEYS))],
  [0.1, (actor) => readValue(actor)],
  [0.05, ({ scene, shop, random }) => scene.length(shop, QUEUE.sale, random.pick(HOW_KEYS))],
];

export async function work(actor: Actor, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await drawShare(actor.random, ACTIVITIES)(actor);
    await pause(actor.random.exponential(PAUSE_MS), signal);
  }
}
