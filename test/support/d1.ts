/** D1 on this machine, as Miniflare runs it, and a database that another one follows. */
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, vi } from 'vitest';
import {
  migrations,
  type D1DatabaseLike,
  type D1ResultLike,
  type D1SessionLike,
} from '../../src/bindings/d1/index.ts';

/** The first day whose rules the worker follows. */
export const COMPATIBILITY_DATE = '2025-07-01';

export interface LocalD1 {
  readonly primary: D1DatabaseLike;
  readonly copy: D1DatabaseLike;
}

/** As many pairs of databases as a file may open. A database that nothing uses costs nothing. */
const PAIRS = 200;

/**
 * Makes `Atomics.wait` return only once the value has changed, until the test file ends. Miniflare
 * stores an answer, then the new value, and wakes the waiting thread last. If that thread has seen
 * the new value by itself, the late wake-up ends its next wait, before there is an answer. Each
 * later call then gets the answer of the call before it. A program with the same steps failed once
 * in 240,000 rounds.
 */
function ignoreLateWakeUps(): void {
  const { wait } = Atomics;
  const waitForChange = (
    array: Int32Array,
    at: number,
    value: number,
    timeoutMs?: number,
  ): ReturnType<typeof wait> => {
    for (;;) {
      const result = wait(array, at, value, timeoutMs);
      if (result !== 'ok' || Atomics.load(array, at) !== value) return result;
    }
  };
  vi.spyOn(Atomics, 'wait').mockImplementation(waitForChange as typeof wait);
}

/**
 * Starts Miniflare for the tests of a file. `open` returns two databases without data, which no
 * other test has.
 */
export function withLocalD1(): { readonly open: () => Promise<LocalD1> } {
  let miniflare: Miniflare | undefined;
  let opened = 0;
  beforeAll(async () => {
    ignoreLateWakeUps();
    miniflare = new Miniflare({
      modules: true,
      script: 'export default {}',
      compatibilityDate: COMPATIBILITY_DATE,
      d1Databases: Array.from({ length: 2 * PAIRS }, (_, at) => `D${at}`),
    });
    await miniflare.ready;
  });
  afterAll(() => miniflare?.dispose());

  async function openNext(): Promise<D1DatabaseLike> {
    const database = await miniflare!.getD1Database(`D${opened++}`);
    await runAlone(database as unknown as D1DatabaseLike, migrations());
    return database as unknown as D1DatabaseLike;
  }
  return { open: async () => ({ primary: await openNext(), copy: await openNext() }) };
}

/** Runs one statement. */
export function runAlone(database: D1DatabaseLike, sql: string): Promise<D1ResultLike> {
  return database.withSession('first-primary').prepare(sql).all();
}

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Two databases as one with read replication, by the documentation of D1: what the primary has
 * written reaches the copy when `catchUp` is called, and a read with a bookmark waits for that.
 */
export class FollowedD1 implements D1DatabaseLike {
  /** What each `withSession` has asked for. */
  readonly asked: (string | undefined)[] = [];
  /** Whether the copy has each write at once. */
  isFollowing = true;
  /** Called before queries reach the primary, and after it has executed them. */
  beforePrimary: () => void | Promise<void> = () => {};
  afterPrimary: () => void | Promise<void> = () => {};
  readonly #databases: LocalD1;
  readonly #log: (readonly Query[])[] = [];
  #applied = 0;
  #waiting: (() => void)[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(databases: LocalD1) {
    this.#databases = databases;
  }

  withSession(constraint?: string): D1SessionLike {
    this.asked.push(constraint);
    return new FollowedSession((queries) => this.#run(queries, constraint));
  }

  async catchUp(): Promise<void> {
    await this.#inTurn(async () => {
      for (; this.#applied < this.#log.length; this.#applied += 1)
        await execute(this.#databases.copy, this.#log[this.#applied]!);
    });
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async #run(queries: readonly Query[], constraint = 'first-unconstrained'): Promise<Answer> {
    const isWrite = queries.some(({ sql }) => !/^\s*(select|with)\b/i.test(sql));
    if (isWrite || constraint === 'first-primary') {
      await this.beforePrimary();
      const answer = await this.#inTurn(async () => {
        const results = await execute(this.#databases.primary, queries);
        if (isWrite) this.#log.push(queries);
        return { results, bookmark: toBookmark(this.#log.length) };
      });
      if (isWrite && this.isFollowing) await this.catchUp();
      await this.afterPrimary();
      return answer;
    }
    if (constraint !== 'first-unconstrained') await this.#waitFor(constraint);
    return await this.#inTurn(async () => ({
      results: await execute(this.#databases.copy, queries),
      bookmark: toBookmark(this.#applied),
    }));
  }

  async #waitFor(bookmark: string): Promise<void> {
    if (toBookmark(this.#applied) >= bookmark) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    await this.#waitFor(bookmark);
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

interface Answer {
  readonly results: D1ResultLike[];
  readonly bookmark: string;
}

class FollowedSession implements D1SessionLike {
  readonly #run: (queries: readonly Query[]) => Promise<Answer>;
  #bookmark: string | null = null;

  constructor(run: (queries: readonly Query[]) => Promise<Answer>) {
    this.#run = run;
  }

  prepare(sql: string): FollowedStatement {
    return new FollowedStatement({ sql, values: [] }, (queries) => this.#send(queries));
  }

  batch(statements: FollowedStatement[]): Promise<D1ResultLike[]> {
    return this.#send(statements.map(({ query }) => query));
  }

  getBookmark(): string | null {
    return this.#bookmark;
  }

  async #send(queries: readonly Query[]): Promise<D1ResultLike[]> {
    const { results, bookmark } = await this.#run(queries);
    this.#bookmark = bookmark;
    return results;
  }
}

class FollowedStatement {
  readonly query: Query;
  readonly #send: (queries: readonly Query[]) => Promise<D1ResultLike[]>;

  constructor(query: Query, send: (queries: readonly Query[]) => Promise<D1ResultLike[]>) {
    this.query = query;
    this.#send = send;
  }

  bind(...values: unknown[]): FollowedStatement {
    return new FollowedStatement({ ...this.query, values }, this.#send);
  }

  async all(): Promise<D1ResultLike> {
    const [result] = await this.#send([this.query]);
    return result!;
  }
}

function execute(database: D1DatabaseLike, queries: readonly Query[]): Promise<D1ResultLike[]> {
  const session = database.withSession('first-primary');
  return session.batch(queries.map(({ sql, values }) => session.prepare(sql).bind(...values)));
}

/** In the form of D1's own. */
function toBookmark(count: number): string {
  return `00000000-${count.toString(16).padStart(8, '0')}-00000000-${'0'.repeat(32)}`;
}
