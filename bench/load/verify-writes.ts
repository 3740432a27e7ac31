/**
 * Records what a client has written, so that the store can be checked afterwards. A server that
 * replies and stores nothing would be fast.
 */
import { KEYS } from './mix.ts';

/**
 * The number of values of each client. It is a prime, so that each write of a key has another
 * value.
 */
const VALUES = 1009;

/**
 * Functions that read the store. If a store has no values or no balances, nothing of that kind was
 * written.
 */
export interface Reads {
  /** The value of the n-th key. */
  readonly value: (n: number) => PromiseLike<unknown>;
  /** The balance of the n-th account. */
  readonly balance: (n: number) => PromiseLike<unknown>;
}

/** The writes of a client, and what it reads from the store afterwards. */
export interface WrittenReport {
  /**
   * For each key written in its last run: the value that was written last, and the value in the
   * store.
   */
  readonly values: readonly {
    readonly key: number;
    readonly written: string;
    readonly held: unknown;
  }[];
  /** For each account: the sum of all bookings of this client. */
  readonly booked: readonly number[];
  /** For each account that it changed in its last run: the balance in the store. */
  readonly balances: readonly { readonly key: number; readonly held: unknown }[];
}

/**
 * Records operations as they begin, which costs one write to an array for each. A client has one
 * connection, whose operations take effect in the order in which they were begun, and when a run
 * has ended, all of them were answered.
 */
export class VerifiedWrites {
  readonly #values: readonly string[];
  readonly #lasts = new Int32Array(KEYS).fill(-1);
  readonly #booked = new Float64Array(KEYS);
  readonly #isChanged = new Uint8Array(KEYS);
  #writes = 0;
  #hasBooked = false;

  /** @param client distinguishes its values from those of other clients: five characters at most */
  constructor(client: string) {
    // Each value has sixteen bytes. Flatten the strings now: V8 would otherwise join their parts
    // during the measurement.
    this.#values = Array.from({ length: VALUES }, (_, n) =>
      Buffer.from(`${client.padStart(5, '0')}:${String(n).padStart(10, '0')}`).toString('latin1'),
    );
  }

  /** Called at the beginning of a run. */
  begin(): void {
    this.#lasts.fill(-1);
    this.#isChanged.fill(0);
  }

  /** Returns the next value to write to a key. */
  value(key: number): string {
    const index = this.#writes++ % VALUES;
    this.#lasts[key] = index;
    return this.#values[index] as string;
  }

  /** Records a booking on an account. */
  book(key: number, cents: number): void {
    this.#booked[key] = (this.#booked[key] as number) + cents;
    this.#isChanged[key] = 1;
    this.#hasBooked = true;
  }

  /** Reads from the store what was written in the last run. */
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
        keys
          .filter((key) => this.#isChanged[key] === 1)
          .map(async (key) => ({ key, held: await reads.balance(key) })),
      ),
    };
  }
}

/**
 * Several clients write the same keys. It is unknown which client wrote last, but the value must be
 * the last one of some client. Balances must be the sums of all bookings.
 *
 * @param ran the clients of the last run @param idle those that only ran before
 * @throws Error if the store contains something else
 */
export function verifyWrites(
  executed: readonly WrittenReport[],
  idle: readonly WrittenReport[] = [],
): void {
  const lasts = new Map<number, unknown[]>();
  for (const { key, written } of executed.flatMap(({ values }) => values)) {
    lasts.set(key, [...(lasts.get(key) ?? []), written]);
  }
  const bookedOn = (key: number): number =>
    [...executed, ...idle].reduce((sum, { booked }) => sum + (booked[key] ?? 0), 0);
  const lost = [
    ...executed
      .flatMap(({ values }) => values)
      .flatMap(({ key, held: retained }) =>
        differing(`key:${key}`, retained, lasts.get(key) ?? []),
      ),
    ...executed
      .flatMap(({ balances }) => balances)
      .flatMap(({ key, held: retained }) => differing(`account ${key}`, retained, [bookedOn(key)])),
  ];
  if (lost.length === 0) return;
  throw new Error(
    `the store does not hold what was written: ${lost.length} differ, the first: ${lost[0]}`,
  );
}

function differing(description: string, retained: unknown, written: readonly unknown[]): string[] {
  return written.includes(retained)
    ? []
    : [`${description} holds ${String(retained)}, written last: ${written.join(' or ')}`];
}
