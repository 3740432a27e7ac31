/**
 * Histories of tiers with versions: caches that are filled late, an origin behind a balancer that
 * sometimes leads to a server that is behind, concurrent reads and writes. In a session, no view is
 * older than what the session had written or seen when the read began. Without sessions, the same
 * checker finds violations.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  tiered,
  versionSessions,
  withDetails,
  skipLevel,
  type Tier,
} from '../../src/bindings/tiered/index.ts';
import { signedTokens } from '../../src/bindings/tiered/node.ts';
import { createClient, isCorrectableError } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { scaleRuns } from '../support/lane.ts';
import { SessionSight } from '../support/session-sight.ts';

const KEYS = ['a', 'b', 'c'] as const;
const USERS = 3;
const ACTIONS = 40;

interface World {
  readonly seed: number;
  readonly per: 'key' | 'store';
  readonly mode: 'parallel' | 'sequential';
  /**
   * `balanced`: it sometimes answers from a copy that is behind. `silent`: some of its writes
   * return no version, so that the session trusts its next answer.
   */
  readonly origin: 'plain' | 'balanced' | 'silent';
  /** Whether a session goes on by its token before each operation. */
  readonly travels: boolean;
}

const worlds: fc.Arbitrary<World> = fc.record({
  seed: fc.integer(),
  per: fc.constantFrom('key', 'store'),
  mode: fc.constantFrom('parallel', 'sequential'),
  origin: fc.constantFrom('plain', 'balanced', 'silent'),
  travels: fc.boolean(),
});

interface Outcome {
  readonly violations: readonly string[];
  readonly behindSession: number;
  readonly refused: number;
}

type Copy = 'cache' | 'backup' | 'late';

/** One state of the store, after as many writes as `at`. */
interface State {
  readonly at: number;
  readonly rows: ReadonlyMap<string, number>;
}

/** The number of the write that a key shows is its value, so that a view tells of when it is. */
class Store {
  readonly #random: Random;
  readonly #world: World;
  readonly #states: State[] = [
    { at: 0, rows: new Map(KEYS.map((key): [string, number] => [key, 0])) },
  ];
  /** How far the copies are. */
  readonly #copies: Record<Copy, number> = { cache: 0, backup: 0, late: 0 };

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  get newest(): State {
    return this.#states.at(-1)!;
  }

  readonly tiers: Readonly<Record<'cache' | 'backup' | 'origin', Tier>> = {
    cache: async ({ key = '' }) => {
      await this.#delay();
      return this.#random.chance(1 / 4) ? skipLevel : this.#show(key, this.#advance('cache'));
    },
    backup: async ({ key = '' }) => {
      await this.#delay();
      return this.#show(key, this.#advance('backup'));
    },
    origin: async ({ key = '', access }) => {
      await this.#delay();
      if (access === 'write') return await this.#write(key);
      const isLate = this.#world.origin === 'balanced' && this.#random.chance(1 / 3);
      const state = isLate ? this.#advance('late') : this.newest;
      await this.#delay();
      return this.#show(key, state);
    },
  };

  async #write(key: string): Promise<unknown> {
    const { at, rows } = this.newest;
    this.#states.push({ at: at + 1, rows: new Map(rows).set(key, at + 1) });
    await this.#delay();
    const isUnknown = this.#world.origin === 'silent' && this.#random.chance(1 / 2);
    return isUnknown ? at + 1 : withDetails(at + 1, { version: at + 1 });
  }

  #show(key: string, { at, rows }: State): unknown {
    const value = rows.get(key) as number;
    return withDetails(value, { version: this.#world.per === 'key' ? value : at });
  }

  /** Copies follow the log, each at its own pace. */
  #advance(copy: Copy): State {
    const behind = this.newest.at - this.#copies[copy];
    this.#copies[copy] += this.#random.between(0, behind);
    return this.#states[this.#copies[copy]] as State;
  }

  /** Some turns of the event loop, or of the microtasks in one of them. */
  async #delay(): Promise<void> {
    for (let turns = this.#random.between(0, 6); turns > 0; turns -= 1) {
      if (this.#random.chance(1 / 2)) await new Promise(setImmediate);
      else await Promise.resolve();
    }
  }
}

async function play(world: World, hasSessions: boolean): Promise<Outcome> {
  const random = new Random(world.seed);
  const store = new Store(world, random);
  const tokens = signedTokens({ tokenKey: 'a secret of all processes' });
  const sessions = versionSessions({ per: world.per, tokens });
  const { mode } = world;
  const client = createClient(
    tiered(['cache', 'backup', 'origin'], store.tiers, { mode, sessions, onError: () => {} }),
  );
  const violations: string[] = [];
  let refused = 0;

  async function act(
    user: number,
    session: ReturnType<typeof client.session>,
    sight: SessionSight,
  ): Promise<void> {
    const key = random.pick(KEYS);
    const options = hasSessions ? { session } : {};
    if (random.chance(1 / 3)) {
      const written = (await client.invoke(put(key, 0), options)) as unknown as number;
      sight.write(key, written);
      return;
    }
    const note = sight.beginRead(key);
    try {
      for await (const { value, level } of client.invoke(get<number>(key), options)) {
        const least = note(value as number);
        if (least !== undefined)
          violations.push(`user ${user}: ${key} at ${level} is ${value} after ${least}`);
      }
    } catch (error) {
      if (!isCorrectableError(error, 'REPLICA_BEHIND')) throw error;
      refused += 1;
    }
  }

  const users = Array.from({ length: USERS }, async (_, user) => {
    const sight = new SessionSight();
    let session = client.session();
    for (let n = 0; n < ACTIONS; n += 1) {
      // Sometimes two operations of one session at once.
      const count = random.chance(1 / 4) ? 2 : 1;
      await Promise.all(Array.from({ length: count }, () => act(user, session, sight)));
      if (world.travels) session = client.session({ tokens: session.tokens });
    }
  });
  await Promise.all(users);
  return { violations, refused, behindSession: sessions.stats.behindSession };
}

// @rule TIER-1
// @rule TIER-2
test(
  'tiered: sessions on, copies behind → no view is older than the session',
  { timeout: 120_000 },
  async () => {
    const counts = { behindSession: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const outcome = await play(world, true);
        expect(outcome.violations).toEqual([]);
        counts.behindSession += outcome.behindSession;
        counts.refused += outcome.refused;
      }),
      { numRuns: scaleRuns(600) },
    );
    expect(counts.behindSession).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
  },
);

test('tiered: sessions off → the checker finds violations', { timeout: 120_000 }, async () => {
  const world: Omit<World, 'seed'> = {
    per: 'key',
    mode: 'parallel',
    origin: 'balanced',
    travels: false,
  };
  const outcomes = await Promise.all([1, 2, 3].map((seed) => play({ ...world, seed }, false)));
  for (const { violations } of outcomes) expect(violations.length).toBeGreaterThan(0);
});
