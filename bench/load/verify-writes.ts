/**
 * What a client has written, so that the store can be asked afterwards whether it holds it: a server that answers and keeps
 * nothing is fast.
 */
import { KEYS } from './mix.ts';

/** So many values of each client: a prime, so that a key gets another one each time it is written. */
const VALUES = 1009;

/** How a store is asked what it holds; a contestant whose store has none of one kind was asked to write none. */
export interface Reads {
  /** The value of the n-th key. */
  readonly value: (n: number) => PromiseLike<unknown>;
  /** The balance of the n-th account. */
  readonly balance: (n: number) => PromiseLike<unknown>;
}

/** What a client wrote, and what it finds when it has ended. */
export interface WrittenReport {
  /** By key that was written in its last run: the value written last there, and the one that the store holds. */
  readonly values: readonly { readonly key: number; readonly written: string; readonly held: unknown }[];
  /** By account: all that it has booked there since it began; none where it never booked anything. */
  readonly booked: readonly number[];
  /** By account that it changed in its last run: what the store holds. */
  readonly balances: readonly { readonly key: number; readonly held: unknown }[];
}

/**
 * Keeps count while operations begin: it costs a write to an array each. A client has one connection, whose operations take
 * effect in the order in which they were begun, and when a run has ended, all of them were answered.
 */
export class VerifiedWrites {
  readonly #values: readonly string[];
  readonly #lasts = new Int32Array(KEYS).fill(-1);
  readonly #booked = new Float64Array(KEYS);
  readonly #isChanged = new Uint8Array(KEYS);
  #writes = 0;
  #hasBooked = false;

  /** @param client tells its values from those of others: five characters at most */
  constructor(client: string) {
    // Sixteen bytes, of one piece: a string that is still to be put together would be so in the time that is measured.
    this.#values = Array.from({ length: VALUES }, (_, n) =>
      Buffer.from(`${client.padStart(5, '0')}:${String(n).padStart(10, '0')}`).toString('latin1'),
    );
  }

  /** A run begins. */
  begin(): void {
    this.#lasts.fill(-1);
    this.#isChanged.fill(0);
  }

  /** The value to write to a key. */
  value(key: number): string {
    const index = this.#writes++ % VALUES;
    this.#lasts[key] = index;
    return this.#values[index] as string;
  }

  /** Something is booked on an account. */
  book(key: number, cents: number): void {
    this.#booked[key] = (this.#booked[key] as number) + cents;
    this.#isChanged[key] = 1;
    this.#hasBooked = true;
  }

  /** Asks the store what it holds of what was written in the last run. */
  async report(reads: Reads): Promise<WrittenReport> {
    const keys = Array.from({ length: KEYS }, (_, key) => key);
    return {
      values: await Promise.all(
        keys
          .filter((key) => (this.#lasts[key] as number) >= 0)
          .map(async (key) => {
            const written = this.#values[this.#lasts[key] as number] as string;
            return { key, written, held: await reads.value(key) };
          }),
      ),
      booked: this.#hasBooked ? [...this.#booked] : [],
      balances: await Promise.all(
        keys.filter((key) => this.#isChanged[key] === 1).map(async (key) => ({ key, held: await reads.balance(key) })),
      ),
    };
  }
}

/**
 * Several clients write the same keys. It is unknown whose write came last, but it is the last one of one of them.
 * Accounts hold what all have booked.
 *
 * @param ran the clients of the last run @param idle those that only ran before
 * @throws Error where a store holds something else
 */
export function verifyWrites(executed: readonly WrittenReport[], idle: readonly WrittenReport[] = []): void {
  const lasts = new Map<number, unknown[]>();
  for (const { key, written } of executed.flatMap(({ values }) => values)) {
    lasts.set(key, [...(lasts.get(key) ?? []), written]);
  }
  const bookedOn = (key: number): number =>
    [...executed, ...idle].reduce((sum, { booked }) => sum + (booked[key] ?? 0), 0);
  const lost = [
    ...executed
      .flatMap(({ values }) => values)
      .flatMap(({ key, held: retained }) => differing(`key:${key}`, retained, lasts.get(key) ?? [])),
    ...executed
      .flatMap(({ balances }) => balances)
      .flatMap(({ key, held: retained }) => differing(`account ${key}`, retained, [bookedOn(key)])),
  ];
  if (lost.length === 0) return;
  throw new Error(`the store does not hold what was written: ${lost.length} differ, the first: ${lost[0]}`);
}

function differing(description: string, retained: unknown, written: readonly unknown[]): string[] {
  return written.includes(retained)
    ? []
    : [`${description} holds ${String(retained)}, written last: ${written.join(' or ')}`];
}
