/** Recovers what dead consumers had claimed and not cleaned up. Any number of janitors may run at once. */
import { claimOf, type Claim } from './claims.ts';
import { isZooKeeperError } from '../client/errors.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { isLost } from '../failures.ts';
import type { Delivery, ResolvedBindingOptions } from '../options.ts';
import type { Paths, QueuePaths } from '../paths.ts';
import type { Sessions } from '../sessions.ts';

/** Looks at all queues, once. Returns how many claims it has recovered. */
export async function recover(sessions: Sessions, paths: Paths, delivery: Delivery): Promise<number> {
  const zk = sessions.reader;
  await zk.sync(paths.queues);
  let recovered = 0;
  for (const queue of await namesIn(zk, paths.queues)) {
    const queuePaths = paths.encodedQueue(queue);
    // The claims first: whoever made one of them had registered before.
    const claims = await namesIn(zk, queuePaths.claims);
    if (claims.length === 0) continue;
    const alive = new Set(await namesIn(zk, paths.consumers));
    const dead = claims.filter((name) => !alive.has(name.slice(0, name.indexOf('.'))));
    for (const name of dead) {
      if (await recoverClaim(sessions, queuePaths, { claim: claimOf(name), delivery })) recovered += 1;
    }
  }
  return recovered;
}

/** Returns false where another janitor was first, or there is no item yet: the claim waits for one. */
async function recoverClaim(
  sessions: Sessions,
  paths: QueuePaths,
  { claim, delivery }: { readonly claim: Claim; readonly delivery: Delivery },
): Promise<boolean> {
  const zk = sessions.writer;
  const item = paths.item(claim.number);
  const takeAway = [
    { type: 'delete', path: paths.claim(claim.name) },
    { type: 'delete', path: item },
  ] as const;
  try {
    const { data } = await zk.get(item);
    const isFiller = data === null || data.length === 0;
    const putBack = { type: 'create', path: `${paths.items}/-`, data, mode: 'persistent-sequential' } as const;
    await zk.multi(delivery === 'at-least-once' && !isFiller ? [...takeAway, putBack] : takeAway);
    return true;
  } catch (error) {
    if (isZooKeeperError(error, 'NO_NODE')) return false;
    throw error;
  }
}

async function namesIn(zk: ZooKeeper, path: string): Promise<readonly string[]> {
  try {
    return (await zk.children(path)).children;
  } catch (error) {
    if (isZooKeeperError(error, 'NO_NODE')) return [];
    throw error;
  }
}

/** Looks again and again, until stopped. */
export class Janitor {
  readonly #look: () => Promise<unknown>;
  readonly #everyMs: number;
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Timeout;

  constructor(look: () => Promise<unknown>, everyMs: number, { onBackgroundError }: ResolvedBindingOptions) {
    this.#look = look;
    this.#everyMs = everyMs;
    this.#onError = onBackgroundError;
    this.#timer = this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#look()
        .catch((error: unknown) => {
          // A lost connection is tried again in the next round.
          if (!isLost(error) && !isZooKeeperError(error, 'CLIENT_CLOSED')) this.#onError(error);
        })
        .finally(() => (this.#timer = this.#schedule()));
    }, this.#everyMs).unref();
  }
}
