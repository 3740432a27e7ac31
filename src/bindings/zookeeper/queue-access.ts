/** What the operations of one queue share. */
import { isZooKeeperError } from './client/errors.ts';
import { Claims } from './claims.ts';
import { Cleaner } from './cleaner.ts';
import { isLost } from './failures.ts';
import type { ResolvedBindingOptions } from './options.ts';
import { numberOf, type QueuePaths } from './paths.ts';
import { createSequential } from './preliminaries.ts';
import { QueueState } from './queue.ts';
import type { Sellers } from './sellers.ts';
import type { Sessions } from './sessions.ts';
import type { ValueCodec } from './values.ts';
import { Window } from './window.ts';

export class QueueAccess {
  readonly queue: QueueState;
  readonly claims: Claims;
  readonly cleaner: Cleaner;
  readonly window: Window;
  readonly sessions: Sessions;
  readonly sellers: Sellers;
  readonly codec: ValueCodec;
  /** Claims under way, to be waited for. */
  readonly #claiming = new Set<Promise<unknown>>();

  constructor(
    paths: QueuePaths,
    { sessions, sellers }: Pick<QueueAccess, 'sessions' | 'sellers'>,
    options: ResolvedBindingOptions,
  ) {
    this.sessions = sessions;
    this.sellers = sellers;
    this.codec = options.codec;
    this.queue = new QueueState(paths);
    this.claims = new Claims(sessions, paths);
    this.cleaner = new Cleaner(sessions, paths, options.onBackgroundError);
    this.window = new Window(options);
  }

  /** Runs `claiming` such that `settled` waits for it. */
  track<T>(claiming: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = claiming.then(
      () => this.#claiming.delete(settled),
      () => this.#claiming.delete(settled),
    );
    this.#claiming.add(settled);
    return claiming;
  }

  /** Resolves when the claims under way now have been decided. */
  async settled(): Promise<void> {
    await Promise.all(this.#claiming);
  }

  /** Makes the nodes of the queue. */
  async make(): Promise<void> {
    const { items, claims } = this.queue.paths;
    // Whoever finds a place for items finds one for claims.
    await this.sessions.makePath(claims);
    await this.sessions.makePath(items);
  }

  /** Adds an item and returns its number; `onPreliminary` hears of it before, from a server that says so. The queue is made on first use. */
  async append(bytes: Uint8Array, onPreliminary?: (number: number) => void): Promise<number> {
    const { items } = this.queue.paths;
    const create = async (): Promise<number> =>
      numberOf(await createSequential(this.sessions, `${items}/-`, { data: bytes, onPreliminary }));
    try {
      return await create();
    } catch (error) {
      if (!isZooKeeperError(error, 'NO_NODE')) throw error;
      await this.make();
      return await create();
    }
  }

  /** Adds fillers, so that numbers which claims have gone beyond come to an end. A lost one does no harm. */
  async fill(count: number): Promise<void> {
    const fillers = Array.from({ length: count }, () => this.append(new Uint8Array(0)));
    for (const each of await Promise.allSettled(fillers)) {
      if (each.status === 'rejected' && !isLost(each.reason)) throw each.reason;
    }
  }
}
