/**
 * One round: shops work and suffer; then all is healed, they close, what is left is read and taken,
 * and it is judged.
 */
import { setMaxListeners } from 'node:events';
import type { Site } from '../../../engines/wan.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { callFaults } from '../checks/calls.ts';
import type { Call } from '../history.ts';
import { pause } from '../pause.ts';
import { repeat } from '../repeat.ts';
import { Connections, deadServers, disturbServers } from './nemesis.ts';
import { drain, recoverAll } from './drain.ts';
import { Episodes } from './episodes.ts';
import { checkRound } from './check-round.ts';
import type { Scene } from './fixture.ts';
import { Shop } from './binding-client.ts';
import { readTree } from './tree.ts';
import { work } from './workload.ts';

const SHOP_SITES: readonly Site[] = ['ireland', 'frankfurt', 'virginia', 'frankfurt', 'ireland'];
const WORKERS = 2;
const WINDOW = 20;
/**
 * Where the janitor takes who has no session for dead, sessions outlive all that happens to the
 * living.
 */
const SESSION_MS = { withJanitor: 15_000, without: 4_000 } as const;
const JANITOR_MS = 1_000;
const JANITORS = 2;
const RUSHES_EVERY_MS = [1_000, 4_000] as const;
const OTHERS_EVERY_MS = [1_000, 3_000] as const;

/** Plays a round and returns its faults. `calls` returns those of the history so far. */
export async function runRound(
  scene: Scene,
  lastsMs: number,
  calls: () => readonly Call[],
): Promise<string[]> {
  const { ensemble, root, plan } = scene;
  const from = calls().length;
  for (const [n, site] of SHOP_SITES.entries()) scene.shops.push(await openShop(scene, n, site));
  await Promise.all(scene.shops.map(({ binding }) => binding.whenConnected()));
  await play(scene, lastsMs);
  scene.progress('healed, and all calls have ended');
  await Promise.all(scene.shops.map((shop) => shop.close()));
  // Without all servers there may be no majority to read from: this is fault enough.
  if (deadServers(ensemble).length > 0) return callFaults(calls().slice(from)).slice(0, 1);
  const faults = plan.delivery === undefined ? [] : await recoverAll(scene, plan.delivery);
  const leader = (await ensemble.leader()) ?? 'ireland';
  const source = { libraries: ensemble.state.libraries, address: ensemble.address(leader) };
  const before = await readTree(source, root);
  await drain(scene, [...before.queues.keys()]);
  const after = await readTree(source, root);
  return [...faults, ...checkRound({ plan, calls: calls().slice(from), before, after })];
}

/** All actors are made in this order, so that each draws the same whatever the others do. */
async function play(scene: Scene, lastsMs: number): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  setMaxListeners(Infinity, signal);
  const episodes = new Episodes(scene);
  const nowAndThen = (
    everyMs: readonly [number, number],
    play: (random: Random) => Promise<void>,
  ): Promise<void> => {
    const random = scene.random();
    return repeat(everyMs, { random, signal }, () => play(random));
  };
  const disturbing = [new Connections(scene, signal).disturb(), disturbServers(scene, signal)];
  const working = [
    nowAndThen(RUSHES_EVERY_MS, (random) => episodes.rush(random)),
    nowAndThen(OTHERS_EVERY_MS, (random) => episodes.closing(random)),
    nowAndThen(OTHERS_EVERY_MS, (random) => episodes.deletion(random)),
    ...(scene.plan.delivery === undefined
      ? []
      : [nowAndThen(OTHERS_EVERY_MS, (random: Random) => episodes.death(random))]),
    ...scene.shops.flatMap((shop) =>
      Array.from({ length: WORKERS }, () => work({ scene, shop, random: scene.random() }, signal)),
    ),
  ];
  await pause(lastsMs);
  ending.abort();
  await Promise.all(disturbing);
  await Promise.all(working);
}

function openShop({ ensemble, root, plan, progress }: Scene, n: number, site: Site): Promise<Shop> {
  const name = `${site}${n}`;
  const { delivery } = plan;
  return Shop.open(ensemble, {
    name,
    site,
    root,
    maxInFlight: WINDOW,
    sessionTimeoutMs: delivery === undefined ? SESSION_MS.without : SESSION_MS.withJanitor,
    ...(delivery === undefined || n >= JANITORS
      ? {}
      : { orphanRecovery: { delivery, intervalMs: JANITOR_MS } }),
    onBackgroundError: (error) => progress(`${name}, beside: ${String(error)}`),
  });
}
