/**
 * Sessions on Cassandra, against three replicas whose order is known: no view is of before what the
 * session saw or wrote when it asked, its writes come after what it saw, and once all replicas have
 * everything nothing stands in its way.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cassandra } from '../../src/bindings/cassandra/index.ts';
import { SessionGuarantees } from '../../src/bindings/cassandra/session-guarantees/session-guarantees.ts';
import { writeClock } from '../../src/bindings/cassandra/session-guarantees/write-clock.ts';
import { createClient, isCorrectableError } from '../../src/index.ts';
import { get, getMany, put } from '../../src/operations/index.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { fakeDriver } from '../unit/bindings/cassandra/fake-driver.ts';
import { LwwReplicas } from '../unit/bindings/cassandra/lww-replicas.ts';
import { scaleRuns } from '../support/lane.ts';

const KEYS = ['a', 'b', 'c', 'd'];
const ACTIONS = 60;
const HOUR_MICROSECONDS = 3_600_000_000;

interface World {
  readonly seed: number;
  readonly write: 'QUORUM' | 'ONE';
  /** Keys that a session remembers. */
  readonly maxKeys: number;
  /** Whether some writers have a clock that is an hour ahead. */
  readonly isSkewed: boolean;
  /** Whether writers now and then have the time of the last write of their key. */
  readonly hasTies: boolean;
}

/** The newest that a user knows of a key: what was shown to them, or what they wrote. */
interface Sight {
  readonly at: number;
  /** Whether it is that there is nothing. */
  readonly isAbsence: boolean;
}

/**
 * Worlds in which one replica has nothing at all of a key that another has a deletion of; draws
 * seldom make one.
 */
const ABSENT_TWICE: [World][] = [
  [{ seed: 2088657532, write: 'QUORUM', maxKeys: 100, isSkewed: true, hasTies: false }],
  [{ seed: -910862249, write: 'QUORUM', maxKeys: 2, isSkewed: true, hasTies: true }],
];

const worlds: fc.Arbitrary<World> = fc.record({
  seed: fc.integer(),
  write: fc.constantFrom('QUORUM', 'ONE'),
  maxKeys: fc.constantFrom(2, 100),
  isSkewed: fc.boolean(),
  hasTies: fc.boolean(),
});

test(
  'Cassandra: sessions, writers, deletions, replicas behind → never back, never stuck',
  { timeout: 120_000 },
  async () => {
    await fc.assert(sessions(unnoted), { numRuns: scaleRuns(200), examples: ABSENT_TWICE });
  },
);

testShares(
  'Cassandra: the worlds → in most of them replicas are behind what a session knows',
  async () => {
    const shares = await sharesOf<[World]>(sessions, 100);
    for (const description of [
      'several views',
      'a weak view is withheld',
      'newer than what the session knew',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.8);
    }
    for (const subject of [
      'gone, what was seen',
      'gone, still',
      'two writes of one time',
      'a writer whose clock is ahead',
    ]) {
      expect(shares[subject], subject).toBeGreaterThan(0.3);
    }
    expect(shares['all replicas are asked']).toBeGreaterThan(0.2);
    expect(shares['REPLICA_BEHIND']).toBeGreaterThan(0.12);
  },
);

function sessions(note: Note): fc.IAsyncProperty<[World]> {
  return fc.asyncProperty(worlds, (world) => play(world, onceEach(note)));
}

async function play(world: World, note: Note): Promise<void> {
  const random = new Random(world.seed);
  const draw = (below: number): number => random.between(0, below - 1);
  const fake = fakeDriver();
  const replicas = new LwwReplicas(fake, draw);
  const isStrong = world.write === 'QUORUM';
  const binding = cassandra({
    contactPoints: ['a'],
    keyspace: 'shop',
    driver: fake.driver,
    write: world.write,
  });
  binding.openSession = () => new SessionGuarantees(isStrong, world.maxKeys);
  const client = createClient(binding);
  const users = [0, 1].map(() => ({ session: client.session(), seen: new Map<string, Sight>() }));
  const faults: string[] = [];
  type User = (typeof users)[number];

  function read(
    { session, seen }: User,
    keys: readonly string[],
    levels?: readonly ['weak'],
  ): Promise<string[]> {
    const before = new Map(seen);
    const operation = keys.length === 1 ? get(keys[0] as string) : getMany([...keys]);
    const reading =
      levels === undefined
        ? client.invoke(operation, { session })
        : client.invoke(operation, { session, levels });
    const shown: string[] = [];
    reading.subscribe(({ level, value }: { readonly level: string; readonly value: unknown }) => {
      shown.push(level);
      const reported = keys.length === 1 ? [value] : (value as unknown[]);
      const had = keys
        .map((item) => replicas.answered?.cellOf(item).text)
        .map((text) => text && JSON.parse(text));
      if (JSON.stringify(reported) !== JSON.stringify(had))
        faults.push(`${level} of ${keys.join()} is not what was answered`);
      for (const key of keys) {
        const { at, text } = replicas.answered?.cellOf(key) ?? { at: NaN, text: undefined };
        const sight = { at, isAbsence: text === undefined };
        if (isBehind(sight, before.get(key))) faults.push(`${level} of ${key} went back`);
        const known = seen.get(key);
        if (known !== undefined && sight.at > known.at) note('newer than what the session knew');
        if (sight.isAbsence && known !== undefined)
          note(known.isAbsence ? 'gone, still' : 'gone, what was seen');
        // A deletion that one replica has may not have been made yet, which its reply does not
        // show.
        const isSure =
          (level === 'strong' || replicas.answered?.consistency === 'ALL') && level !== 'weak';
        if (sight.isAbsence && !isSure) continue;
        raise(before, key, sight);
        // Of keys that were forgotten, `strong` knows only what was answered.
        if (isSure || !isStrong || world.maxKeys > KEYS.length) raise(seen, key, sight);
      }
    });
    return reading.settle().then(
      () => {
        if (levels === undefined && !shown.includes('weak')) note('a weak view is withheld');
        if (shown.length > 1) note('several views');
        return shown;
      },
      (error: unknown) => {
        if (!isCorrectableError(error, 'REPLICA_BEHIND')) faults.push(String(error));
        note('REPLICA_BEHIND');
        return ['REPLICA_BEHIND'];
      },
    );
  }

  function write({ session, seen }: User, key: string, value: number): void {
    const before = seen.get(key)?.at ?? -Infinity;
    const writing = client.invoke(put(key, value), { session });
    void writing.settle().then(({ version }) => {
      if (!((version as number) > before)) faults.push(`put of ${key} was lost before it was made`);
      raise(seen, key, { at: version as number, isAbsence: false });
    });
  }

  for (let n = 0; n < ACTIONS; n += 1) {
    const user = users[draw(users.length)] as User;
    const key = KEYS[draw(KEYS.length)] as string;
    const action = draw(8);
    if (action <= 1) void read(user, [key]);
    else if (action === 2) void read(user, [key], ['weak']);
    else if (action === 3)
      void read(user, [key, KEYS[(KEYS.indexOf(key) + 1) % KEYS.length] as string]);
    else if (action <= 5) write(user, key, n);
    else if (action === 6) replicas.write(key, { at: writeClock.next(), text: undefined });
    else {
      const ahead = world.isSkewed && draw(2) === 0 ? HOUR_MICROSECONDS : 0;
      const { at: lastAt } = replicas.newest(key);
      const isTie = world.hasTies && lastAt > 0 && draw(2) === 0;
      if (isTie) note('two writes of one time');
      if (ahead > 0) note('a writer whose clock is ahead');
      replicas.write(key, { at: isTie ? lastAt : writeClock.next() + ahead, text: String(n) });
    }
    for (let steps = draw(8); steps > 0; steps -= 1) await replicas.step();
  }
  while (await replicas.step());
  if (fake.executed.some(({ consistency }) => consistency === 'ALL'))
    note('all replicas are asked');

  async function finished<T>(reading: Promise<T>): Promise<T> {
    while (await replicas.step());
    return reading;
  }
  for (const user of users) {
    for (const key of KEYS) {
      await finished(read(user, [key]));
      const shown = await finished(read(user, [key]));
      if (shown.includes('REPLICA_BEHIND')) faults.push(`${key} stays behind`);
      const again = await finished(read(user, [key], ['weak']));
      if (!again.includes('weak') && world.maxKeys > KEYS.length)
        faults.push(`${key} has no weak view any more`);
      const { text } = replicas.newest(key);
      const value = client.invoke(get(key), { session: user.session }).settle();
      if ((await finished(value)).value !== (text === undefined ? undefined : JSON.parse(text)))
        faults.push(`${key} is wrong`);
    }
  }
  await client.close();
  expect(faults).toEqual([]);
}

/**
 * Nothing is nothing: who saw that a value is gone loses nothing where a replica has yet to hear of
 * it at all.
 */
function isBehind(now: Sight, known: Sight | undefined): boolean {
  if (now.at >= (known?.at ?? -Infinity)) return false;
  return !(now.isAbsence && known?.isAbsence);
}

function raise(seen: Map<string, Sight>, key: string, sight: Sight): void {
  const known = seen.get(key);
  // Of one instant, a deletion wins.
  if (known === undefined || sight.at > known.at || (sight.at === known.at && sight.isAbsence))
    seen.set(key, sight);
}
