/**
 * Recovers items that crashed consumers had claimed and not cleaned up. Several bindings may run
 * the recovery at once.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { ItemAppender } from './item-appender.ts';
import { parseClaim, type Claim } from './claim-creator.ts';
import { replaceErrorWith, isZooKeeperError } from '../client/errors.ts';
import type { MultiPart } from '../client/multi.ts';
import type { ZooKeeper } from '../client/zookeeper.ts';
import { isConnectionLost } from '../errors.ts';
import { Placeholders } from './placeholders.ts';
import { findItem, readItem } from './items.ts';
import type { DeliveryGuarantee, ResolvedBindingOptions } from '../options.ts';
import type { Paths, QueuePaths } from '../paths.ts';
import type { SessionPair } from '../session-pair.ts';
import { getErrorMessage } from '../../../values/error-message.ts';

/**
 * Checks all queues once. If one claim cannot be recovered, the others are recovered all the same.
 *
 * @returns how many claims it has ended
 * @throws CorrectableError if some could not be recovered, after all others were
 */
export async function recoverOrphans(
  sessions: SessionPair,
  paths: Paths,
  delivery: DeliveryGuarantee,
): Promise<number> {
  const round = new RecoveryRound(sessions, paths, delivery);
  await sessions.reader.sync(paths.queues);
  for (const queue of await listNames(sessions.reader, paths.queues)) {
    await round.attempt(() => round.recoverQueue(paths.encodedQueue(queue)));
  }
  return round.getResult();
}

/** Puts the item of a claim back at the end of the queue, and ends the claim. */
export async function requeueClaim(zk: ZooKeeper, paths: QueuePaths, claim: Claim): Promise<void> {
  await endClaim(zk, paths, { claim, delivery: 'at-least-once' });
}

class RecoveryRound {
  readonly #sessions: SessionPair;
  readonly #paths: Paths;
  readonly #delivery: DeliveryGuarantee;
  readonly #failures: unknown[] = [];
  #recoveredCount = 0;

  constructor(sessions: SessionPair, paths: Paths, delivery: DeliveryGuarantee) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#delivery = delivery;
  }

  /** Runs work that may fail. A lost connection ends the round. Other errors go into the result. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isConnectionLost(error) || isZooKeeperError(error, 'CLIENT_CLOSED')) throw error;
      this.#failures.push(error);
    }
  }

  async recoverQueue(queue: QueuePaths): Promise<void> {
    const zk = this.#sessions.reader;
    // The claims are read first, because the creator of a claim has registered before it.
    const claims = await listNames(zk, queue.claims);
    if (claims.length === 0) return;
    const alive = new Set(await listNames(zk, this.#paths.consumers));
    const dead = claims
      .filter((name) => !alive.has(name.slice(0, name.indexOf('.'))))
      .map(parseClaim);
    const late: Claim[] = [];
    for (const claim of dead) {
      await this.attempt(async () => {
        if (!(await this.#endOrphanedClaim(queue, claim, this.#delivery))) late.push(claim);
      });
    }
    if (late.length === 0) return;
    // No live consumer adds placeholders for these numbers. Items that were added meanwhile are put
    // back, because no consumer can have got them.
    const appends = new ItemAppender(this.#sessions, queue);
    const fillers = new Placeholders(this.#sessions, queue, (bytes) => appends.add(bytes));
    await Promise.all(late.map(({ number }) => fillers.fillUpTo(number)));
    for (const claim of late)
      await this.attempt(
        async () => void (await this.#endOrphanedClaim(queue, claim, 'at-least-once')),
      );
  }

  getResult(): number {
    const [first] = this.#failures;
    if (first === undefined) return this.#recoveredCount;
    const reason = getErrorMessage(first);
    const counts = `${this.#failures.length} could not be recovered (${this.#recoveredCount} were)`;
    const cause = this.#failures.length === 1 ? first : new AggregateError(this.#failures);
    throw new CorrectableError('FINAL_FAILED', `claims of dead consumers: ${counts}: ${reason}`, {
      cause,
    });
  }

  /** Returns false if there is no item yet. */
  async #endOrphanedClaim(
    queue: QueuePaths,
    claim: Claim,
    delivery: DeliveryGuarantee,
  ): Promise<boolean> {
    const outcome = await endClaim(this.#sessions.writer, queue, {
      claim,
      delivery,
    });
    if (outcome === 'ended') this.#recoveredCount += 1;
    return outcome !== 'late';
  }
}

/**
 * `gone` means that another binding has ended the claim first. `late` means that there is no item
 * with this number yet.
 */
async function endClaim(
  zk: ZooKeeper,
  paths: QueuePaths,
  { claim, delivery }: { readonly claim: Claim; readonly delivery: DeliveryGuarantee },
): Promise<'ended' | 'gone' | 'late'> {
  let item = await readItem(zk, paths, claim.number);
  if (item === undefined) {
    const found = await findItem(zk, paths, claim.number);
    if (found.item === undefined && found.tail <= claim.number) return 'late';
    item = found.item;
  }
  const parts: MultiPart[] = [{ type: 'delete', path: paths.claim(claim.name) }];
  if (item !== undefined) parts.push({ type: 'delete', path: paths.item(claim.number) });
  if (item?.isPlaceholder === false && delivery === 'at-least-once') {
    parts.push({
      type: 'create',
      path: `${paths.items}/-`,
      data: item.bytes,
      mode: 'persistent-sequential',
    });
  }
  const ending = zk.multi(parts).then(() => 'ended' as const);
  return ending.catch(replaceErrorWith('NO_NODE', 'gone' as const));
}

async function listNames(zk: ZooKeeper, path: string): Promise<readonly string[]> {
  return (await zk.children(path).catch(replaceErrorWith('NO_NODE', { children: [] }))).children;
}

/** Runs repeatedly. Returns a function that stops it. */
export function runPeriodically(
  look: () => Promise<unknown>,
  everyMs: number,
  { onBackgroundError }: ResolvedBindingOptions,
): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const lookOnce = (): void => {
    look()
      .catch((error: unknown) => {
        // After a lost connection, the next round retries.
        if (!isConnectionLost(error) && !isZooKeeperError(error, 'CLIENT_CLOSED'))
          onBackgroundError(error);
      })
      .finally(schedule);
  };
  const schedule = (): void => {
    if (!isStopped) timer = setTimeout(lookOnce, everyMs).unref();
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
