/**
 * Claim n takes item n (Correctables, OSDI 2016, §6.2.2). A claim is one
 * sequential node, so no consumer retries.
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
   * Makes a claim. If the answer is lost, its unique name shows whether it was
   * made. Calls `onSend` right before each time that the claim is sent; what
   * that throws keeps it from being sent.
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
        if (
          !isZooKeeperError(error) ||
          !(isConnectionLost(error) || error.mayHaveTakenEffect)
        )
          throw error;
        failure = error;
      }
      const mine = failure.mayHaveTakenEffect
        ? await this.#find(prefix, failure)
        : undefined;
      if (mine !== undefined) return parseClaim(mine);
      // Now it is certain that it was not made. The session may be another one
      // by the next attempt.
    }
  }

  /**
   * The name of the claim with this prefix. Where that cannot be found out, it
   * is `failure` that is true.
   */
  async #find(
    prefix: string,
    failure: ZooKeeperError,
  ): Promise<string | undefined> {
    try {
      return (await this.#list()).find((name) => name.startsWith(prefix));
    } catch (error) {
      if (isZooKeeperError(error, 'NO_NODE')) return undefined;
      throw failure;
    }
  }

  /**
   * All claims, after a `sync`. Those who ask at the same time, as after a lost
   * connection, share one list.
   */
  #list(): Promise<readonly string[]> {
    this.#listing ??= new Promise<void>((resolve) =>
      setImmediate(resolve),
    ).then(() => {
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
