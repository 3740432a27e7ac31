/**
 * Creates claims. The claim with number n takes the item with number n (Correctables, OSDI 2016,
 * §6.2.2). A claim is a sequential node, so consumers never compete for one item, and none has to
 * retry.
 */
import { isZooKeeperError, type ZooKeeperError } from '../client/errors.ts';
import { isConnectionLost, throwNotApplied } from '../errors.ts';
import { parseSequenceNumber, type QueuePaths } from '../paths.ts';
import type { SessionPair } from '../session-pair.ts';

export interface Claim {
  readonly number: number;
  readonly name: string;
}

export class ClaimCreator {
  readonly #sessions: SessionPair;
  readonly #paths: QueuePaths;
  #listing: Promise<readonly string[]> | undefined;
  #sequence = 0;

  constructor(sessions: SessionPair, paths: QueuePaths) {
    this.#sessions = sessions;
    this.#paths = paths;
  }

  /**
   * Creates a claim. If the reply is lost, the unique name of the claim shows whether it was
   * created. Calls `onSend` right before each attempt is sent. If `onSend` throws, the attempt is
   * not sent.
   */
  async create(
    onSend: () => void,
    onPreliminary: ((number: number) => void) | undefined,
  ): Promise<Claim> {
    this.#sequence += 1;
    const prefix = `${this.#sessions.consumerId}.${this.#sequence}-`;
    for (;;) {
      await this.#sessions.whenRegistered().catch(throwNotApplied);
      this.#sessions.checkOpen();
      onSend();
      let failure: ZooKeeperError;
      try {
        const path = await this.#sessions.createSequential(
          this.#paths.claim(prefix),
          null,
          onPreliminary,
        );
        return parseClaim(path.slice(path.lastIndexOf('/') + 1));
      } catch (error) {
        if (!isZooKeeperError(error) || !(isConnectionLost(error) || error.mayHaveTakenEffect))
          throw error;
        failure = error;
      }
      const mine = failure.mayHaveTakenEffect ? await this.#find(prefix, failure) : undefined;
      if (mine !== undefined) return parseClaim(mine);
      // The claim was certainly not created, so try again. The next attempt may use another
      // session.
    }
  }

  /**
   * Returns the name of the claim with this prefix. If it cannot be read, rejects with `failure`,
   * the error of the lost attempt.
   */
  async #find(prefix: string, failure: ZooKeeperError): Promise<string | undefined> {
    try {
      return (await this.#list()).find((name) => name.startsWith(prefix));
    } catch (error) {
      if (isZooKeeperError(error, 'NO_NODE')) return undefined;
      throw failure;
    }
  }

  /**
   * Returns all claims after a `sync`. Concurrent callers, as after a lost connection, share one
   * request.
   */
  #list(): Promise<readonly string[]> {
    this.#listing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#listing = undefined;
      return this.#sessions.retryBusy('writer', async (zk) => {
        const [, { children }] = await Promise.all([
          zk.sync(this.#paths.base),
          zk.children(this.#paths.claims),
        ]);
        return children;
      });
    });
    return this.#listing;
  }
}

export function parseClaim(name: string): Claim {
  return { number: parseSequenceNumber(name), name };
}
