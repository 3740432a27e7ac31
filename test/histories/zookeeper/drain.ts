/**
 * What is done when all shops have closed and all servers are well: the dead are buried, what is
 * left is taken.
 */
import {
  ZooKeeper,
  zookeeper,
  type DeliveryGuarantee,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient } from '../../../src/index.ts';
import { pause } from '../pause.ts';
import type { Scene } from './fixture.ts';

/** The session that takes what is left, alone, one item after the other. */
export const LAST = 'last';
/** For the sessions of the dead to expire, and what they left to be recovered. */
const RECOVER_MS = 30_000;

/** Ends all claims: every session that made one has ended. Returns those that it could not end. */
export async function recoverAll(scene: Scene, delivery: DeliveryGuarantee): Promise<string[]> {
  const { ensemble, root } = scene;
  const servers = ensemble.connectString('ireland');
  const janitor = zookeeper({ servers, root });
  await using _ = createClient(janitor);
  await using zk = new ZooKeeper(servers);
  const giveUpAtMs = performance.now() + RECOVER_MS;
  for (;;) {
    const failure = await janitor.recoverOrphans(delivery).then(() => undefined, String);
    const left = await claimsLeft(zk, `${root}/queues`);
    if (failure === undefined && left.length === 0) return [];
    if (performance.now() > giveUpAtMs) {
      const reason = failure === undefined ? '' : `: ${failure}`;
      return [
        `${scene.key('')} the janitor leaves ${left.length} claims of the dead, first ${left[0]}${reason}`,
      ];
    }
    await pause(200);
  }
}

async function claimsLeft(zk: ZooKeeper, queues: string): Promise<string[]> {
  const { children: names } = await zk.children(queues);
  const claims = names.map(async (name) =>
    (await childrenOf(zk, `${queues}/${name}/c`)).map((item) => `${name}/${item}`),
  );
  return (await Promise.all(claims)).flat();
}

async function childrenOf(zk: ZooKeeper, path: string): Promise<readonly string[]> {
  return (await zk.exists(path)) === null ? [] : (await zk.children(path)).children;
}

/**
 * Asks each queue how long it is, and takes all that is left, by a client that has seen nothing of
 * what was before.
 */
export async function drain(scene: Scene, queues: readonly string[]): Promise<void> {
  const { ensemble, root } = scene;
  await using client = createClient(
    zookeeper({ servers: ensemble.connectString('ireland'), root }),
  );
  const caller = { name: LAST, client };
  const takeAll = async (queue: string): Promise<void> => {
    await scene.length(caller, queue, 'invokeStrong');
    for (;;) {
      const { outcome, output } = await scene.dequeue(caller, queue, 'invokeStrong');
      if (outcome !== 'success' || output === null) return;
    }
  };
  await Promise.all(queues.map(takeAll));
}
