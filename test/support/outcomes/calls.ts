/** The operations of a schedule, and all that is known of them. */
import type { Operation } from '../../../src/correctable/operation.ts';
import type { Caller } from './caller.ts';
import type { Account } from './recorded-binding.ts';

interface Call {
  /** An update has one of its own, a read that of the first update. */
  readonly mark: string;
  readonly caller: Caller;
  /** Its time limit is one that nothing but a failure exceeds. */
  readonly isGenerous: boolean;
  /** How many views it has, where nothing goes wrong. */
  readonly viewsMax: number;
  /** What the client's binding got; none if it was not used. */
  readonly heard: Account | undefined;
}

export interface Update extends Call {
  readonly abort: AbortController;
  /** It asked for a view that proves nothing: the update may come to nothing after all. */
  readonly isWeak: boolean;
  /** Who the client was for the gateways when this was invoked; `undefined` before the first welcome. */
  readonly principal: string | undefined;
  /** Whether there was a connection since it was invoked. */
  hadConnection: boolean;
  /** Whether it had left the client when its outcome came. */
  hadLeft: boolean;
  /**
   * Whether a connection ended in the very tick in which this was submitted on it: what is collected in a tick counts as
   * sent for the client, although no socket was given it.
   */
  wasCollected: boolean;
}

/** A read: of how often the first update was executed. */
export interface Read extends Call {
  /** How often that was at least, when it was invoked, and at most, when it was answered. */
  readonly least: number;
  most: number;
}

/** What the store reported to gateways. */
export class Accounts {
  readonly #accounts = new Map<string, Account[]>();

  add({ access, args }: Operation, account: Account): void {
    const key = `${access} ${(args as { readonly mark: string }).mark}`;
    this.#accounts.set(key, [...(this.#accounts.get(key) ?? []), account]);
  }

  /** Of each submission of the update with this mark, or of the reads of it. */
  of(effect: Operation['access'], mark: string): readonly Account[] {
    return this.#accounts.get(`${effect} ${mark}`) ?? [];
  }

  all(): Account[] {
    return [...this.#accounts.values()].flat();
  }
}
