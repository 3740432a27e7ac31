/** The operations of a schedule, with everything that the check needs to know about them. */
import type { Operation } from '../../../src/correctable/operation.ts';
import type { Caller } from './caller.ts';
import type { Account } from './recorded-binding.ts';

interface Call {
  /** Identifies an update. A read has the mark of the first update. */
  readonly mark: string;
  readonly caller: Caller;
  /** Whether its time limit is so long that only a failure exceeds it. */
  readonly isGenerous: boolean;
  /** How many views the operation has if nothing fails. */
  readonly viewsMax: number;
  /** What the client's binding reported; `undefined` if it was not called. */
  readonly heard: Account | undefined;
}

export interface Update extends Call {
  readonly abort: AbortController;
  /** Whether the update requested only a weak view. After that view, the update may still fail. */
  readonly isWeak: boolean;
  /**
   * The principal that the gateways had assigned to the client when it submitted the update;
   * `undefined` before the first welcome.
   */
  readonly principal: string | undefined;
  /** Whether there was a connection when the update was submitted, or later. */
  hadConnection: boolean;
  /** Whether the update had been sent when its outcome came. */
  hadLeft: boolean;
  /**
   * Whether a connection ended in the same tick in which the update was submitted on it. The client
   * counts all messages of a tick as sent, although no socket received them.
   */
  wasCollected: boolean;
}

/** A read that counts the executions of the first update. */
export interface Read extends Call {
  /**
   * The least and the greatest correct result: the number of executions when the read was
   * submitted, and when it was answered.
   */
  readonly least: number;
  most: number;
}

/** Records what the store reported to gateways. */
export class Accounts {
  readonly #accounts = new Map<string, Account[]>();

  add({ access, args }: Operation, account: Account): void {
    const key = `${access} ${(args as { readonly mark: string }).mark}`;
    this.#accounts.set(key, [...(this.#accounts.get(key) ?? []), account]);
  }

  /** Returns a record for each submission of the update with this mark, or of its reads. */
  of(effect: Operation['access'], mark: string): readonly Account[] {
    return this.#accounts.get(`${effect} ${mark}`) ?? [];
  }

  all(): Account[] {
    return [...this.#accounts.values()].flat();
  }
}
