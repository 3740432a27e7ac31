/**
 * Three replicas behind the fake driver: of two writes each keeps the one with the later time, and
 * hears of each in its own time.
 */
import type { Executed, FakeDriver } from './fake-driver.ts';
import { valueRow } from './fake-driver.ts';

/** What a replica has of a key. `text` is `undefined` where it was deleted. */
export interface Cell {
  readonly at: number;
  readonly text: string | undefined;
}

export const NOTHING: Cell = { at: -Infinity, text: undefined };

/** What a read was answered: what its replicas had. */
export interface Answered {
  readonly consistency: string;
  readonly cellOf: (key: string) => Cell;
}

const NEEDED: Readonly<Record<string, number>> = { ONE: 1, QUORUM: 2, ALL: 3 };
const COUNT = 3;

export class LwwReplicas {
  readonly #fake: FakeDriver;
  /** A whole number from 0 to below the one given. */
  readonly #draw: (below: number) => number;
  readonly #cells = Array.from({ length: COUNT }, () => new Map<string, Cell>());
  #underWay: (() => void)[] = [];
  #taken = 0;
  /** The read that was answered last. */
  answered: Answered | undefined;

  constructor(fake: FakeDriver, draw: (below: number) => number) {
    this.#fake = fake;
    this.#draw = draw;
  }

  /** The newest of a key that any replica has. */
  newest(key: string): Cell {
    return this.#cells.map((cells) => cells.get(key) ?? NOTHING).reduce(newer);
  }

  /** Another client writes. `done` is called once `needed` replicas have it. */
  write(key: string, cell: Cell, needed: number = COUNT, done: () => void = () => {}): void {
    let have = 0;
    for (const cells of this.#cells) {
      this.#underWay.push(() => {
        cells.set(key, newer(cells.get(key) ?? NOTHING, cell));
        have += 1;
        if (have === needed) this.#underWay.push(done);
      });
    }
  }

  /** One thing that is under way happens, whichever. @returns whether there was one */
  async step(): Promise<boolean> {
    await endOfTurn();
    for (; this.#taken < this.#fake.executed.length; this.#taken += 1) {
      this.#take(this.#fake.executed[this.#taken] as Executed);
    }
    const [happens] = this.#underWay.splice(this.#draw(this.#underWay.length), 1);
    happens?.();
    await endOfTurn();
    return happens !== undefined;
  }

  #take(executed: Executed): void {
    const { cql, params, options, consistency } = executed;
    const needed = NEEDED[consistency] ?? COUNT;
    if (cql.startsWith('SELECT'))
      return this.#read([params[0]].flat() as string[], needed, executed);
    const [key, text] = params as [string, string];
    this.write(key, { at: options.timestamp ?? 0, text }, needed, () => executed.answer());
  }

  /** Read repair as Cassandra has it: those that were asked have what is answered before it is. */
  #read(keys: readonly string[], needed: number, { answer, consistency }: Executed): void {
    const requested = [...this.#cells];
    while (requested.length > needed) requested.splice(this.#draw(requested.length), 1);
    const found = new Map(keys.map((key) => [key, NOTHING]));
    let heard = 0;
    for (const cells of requested) {
      this.#underWay.push(() => {
        for (const key of keys)
          found.set(key, newer(found.get(key) ?? NOTHING, cells.get(key) ?? NOTHING));
        heard += 1;
        if (heard < needed) return;
        if (needed > 1)
          requested.forEach((item) =>
            found.forEach((cell, key) => item.set(key, newer(item.get(key) ?? NOTHING, cell))),
          );
        this.#underWay.push(() => {
          this.answered = { consistency, cellOf: (key) => found.get(key) ?? NOTHING };
          answer({
            rows: [...found].flatMap(([key, { at, text }]) =>
              text === undefined ? [] : [valueRow(key, JSON.parse(text), at)],
            ),
          });
        });
      });
    }
  }
}

/** Of two of one time a deletion stays, and otherwise the greater value. */
function newer(item: Cell, other: Cell): Cell {
  if (other.at !== item.at) return other.at > item.at ? other : item;
  if (item.text === undefined || other.text === undefined)
    return item.text === undefined ? item : other;
  return other.text > item.text ? other : item;
}

/** Waits until all listeners have run. */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
