/**
 * The cache under every interleaving of reads, puts, executions and answers that fast-check finds, against a store whose
 * true history the test knows.
 */
import { equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cached } from '../../../../src/bindings/cache/index.ts';
import { createClient, type Client, type Session } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { StoreBehind, type StoreLevels, type Submitted } from './store-behind.ts';
import { scaleRuns } from '../../../support/lane.ts';

interface Step {
  readonly kind: 'get' | 'put' | 'execute' | 'answer' | 'lag' | 'look';
  readonly key: 'a' | 'b';
  readonly level: 'weak' | 'strong';
  readonly inSession: boolean;
  /** Whether a new operation is executed and answered on the spot. */
  readonly isInstant: boolean;
  /** Which of the operations under way is meant. */
  readonly pick: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('get', 'put', 'execute', 'answer', 'lag', 'look'),
  key: fc.constantFrom('a', 'b'),
  level: fc.constantFrom('weak', 'strong'),
  inSession: fc.boolean(),
  isInstant: fc.boolean(),
  pick: fc.nat(7),
});

interface UnderWay extends Submitted {
  readonly inSession: boolean;
  readonly level: 'weak' | 'strong';
  /** The true version of what it read or wrote, once the store has executed it. */
  executed?: { readonly value: number | undefined; readonly version: number };
}

interface TieredRunOptions {
  readonly isVersioned: boolean;
  readonly isStrongOnly: boolean;
  readonly maxEntries: number;
}

/** One run: a store with a primary and a lagging backup, seen through a cache. */
class Run {
  readonly store = new StoreBehind();
  readonly client: Client<readonly ['cache', ...StoreLevels]>;
  readonly session: Session;
  readonly #options: TieredRunOptions;
  /** By key: the values written, oldest first. A value's true version is its place, counted from 1. */
  readonly #history: Record<string, number[]> = { a: [], b: [] };
  readonly #lagging: Record<string, number> = { a: 0, b: 0 };
  readonly #underWay: UnderWay[] = [];
  /** By key: the least version that may be shown, to anybody and to the session. */
  readonly #acknowledged: Record<string, number> = { a: 0, b: 0 };
  readonly #shown: Record<string, number> = { a: 0, b: 0 };
  readonly #known: Record<string, number> = { a: 0, b: 0 };
  #values = 0;
  looks = 0;

  constructor(options: TieredRunOptions) {
    this.#options = options;
    this.client = createClient(cached(this.store, { maxEntries: options.maxEntries }));
    this.session = this.client.session();
  }

  take(next: Step): void {
    const { kind, key, inSession, pick } = next;
    if (kind === 'look') this.#look(key, inSession);
    else if (kind === 'lag') this.#lagging[key] = Math.min(this.#historyOf(key).length, this.#lagging[key]! + 1);
    else if (kind === 'get' || kind === 'put') this.#submit(kind, next);
    else {
      const index = pick % Math.max(1, this.#underWay.length);
      const operation = this.#underWay[index];
      if (operation === undefined) return;
      this.#execute(operation);
      if (kind === 'answer') this.#answer(this.#underWay.splice(index, 1)[0] as UnderWay);
    }
  }

  #historyOf(key: string): number[] {
    return this.#history[key] as number[];
  }

  #submit(kind: 'get' | 'put', { key, level, inSession, isInstant }: Step): void {
    const operation = kind === 'get' ? get(key) : put(key, ++this.#values);
    const session = inSession ? this.session : undefined;
    const requested = kind === 'put' || this.#options.isStrongOnly ? 'strong' : level;
    this.client.invoke(operation, { levels: [requested], session }).catch(() => {});
    const submitted: UnderWay = { ...this.store.last, inSession, level: requested };
    if (!isInstant) this.#underWay.push(submitted);
    else {
      this.#execute(submitted);
      this.#answer(submitted);
    }
  }

  #execute(operation: UnderWay): void {
    if (operation.executed !== undefined) return;
    const key = operation.operation.key as string;
    const history = this.#historyOf(key);
    if (operation.operation.name === 'put') history.push((operation.operation.args as { value: number }).value);
    let version = operation.level === 'strong' ? history.length : (this.#lagging[key] ?? 0);
    // The store keeps its own session: its weak views are as fresh as the session needs when it executes them.
    if (operation.inSession) version = Math.max(version, this.#known[key] ?? 0);
    operation.executed = { value: history[version - 1], version };
  }

  #answer({ operation, executed, sink, level, inSession }: UnderWay): void {
    const key = operation.key as string;
    const { value, version } = executed as { value: number | undefined; version: number };
    if (inSession && operation.name === 'get' && version < (this.#known[key] ?? 0)) return;
    if (operation.name === 'put') this.#acknowledged[key] = Math.max(this.#acknowledged[key]!, version);
    if (inSession) this.#known[key] = Math.max(this.#known[key]!, version);
    sink.view(operation.name === 'put' ? undefined : value, level, this.#options.isVersioned ? { version } : {});
  }

  /** What the cache shows is never older than it may be. */
  #look(key: string, inSession: boolean): void {
    const read = this.client.invokeWeak(get<number>(key), inSession ? { session: this.session } : {});
    read.catch(() => {});
    if (read.latest === undefined) return;
    this.looks++;
    const value = read.latest.value;
    const version = value === undefined ? 0 : this.#historyOf(key).indexOf(value) + 1;
    if (this.#options.isVersioned) equal(read.latest.version, version);
    if (inSession) {
      atLeast(version, this.#known[key] ?? 0);
      this.#known[key] = version;
    }
    // With versions, an entry that is not evicted only gets newer.
    const { isVersioned, maxEntries } = this.#options;
    if (isVersioned && maxEntries > 1) atLeast(version, this.#shown[key] ?? 0);
    this.#shown[key] = version;
    // Without lagging views, no client is shown less than has been acknowledged to any client.
    if (this.#options.isStrongOnly) atLeast(version, this.#acknowledged[key] ?? 0);
  }
}

function atLeast(version: number, least: number): void {
  ok(version >= least, `version ${version} was shown after ${least}`);
}

const runs: TieredRunOptions[] = [true, false].flatMap((isVersioned) =>
  [true, false].flatMap((isStrongOnly) => [1, 10].map((maxEntries) => ({ isVersioned, isStrongOnly, maxEntries }))),
);

test.each(runs)('cache: any interleaving, %j → nothing older is shown than may be', (options) => {
  let looks = 0;
  const property = fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
    const run = new Run(options);
    for (const next of steps) run.take(next);
    looks += run.looks;
  });
  fc.assert(property, { numRuns: scaleRuns(1_000) });
  // A cache that never had anything would pass.
  expect(looks).toBeGreaterThan(scaleRuns(300));
});
