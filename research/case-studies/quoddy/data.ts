/**
 * Quoddy's data: as many users as the paper has (RedBlue, OSDI 2012, §8.4), times a scale. What
 * each has is not said there.
 */
import type { Operation } from 'correctables';
import { distinctBelow, wholeBetween, type Random } from '../../../demo/shared/random.ts';
import { scaled } from '../case-study.ts';
import { quoddyStudy } from './contract.ts';
import type { Load } from './load.ts';

const USERS = 200_000;
/** Friends that a user brings along; as many more bring the user along. */
const FRIENDS = 5;
const ASKING = 3;
const FOLLOWS = 3;
const UPDATES = 5;
const TEXT_MAX = 140;
const PASSWORD = 'secret';

/** Few enough for one message. */
const BATCH = 50;
const DAY_MS = 24 * 3_600_000;
const DAYS = 300;

/** How many there are at a scale. */
export const usersAt = (scale: number): number => scaled(USERS, scale);

export const userOf = (user: number): string => `user${user}`;
/** How a user of the data logs in. */
export const loginOf = (user: number) => ({ user: userOf(user), password: PASSWORD });

const FIRST_NAMES = [
  'Ada',
  'Alan',
  'Barbara',
  'Edsger',
  'Frances',
  'Grace',
  'Jim',
  'Leslie',
  'Nancy',
  'Tony',
];
const LAST_NAMES = [
  'Allen',
  'Dijkstra',
  'Gray',
  'Hoare',
  'Hopper',
  'Lamport',
  'Liskov',
  'Lovelace',
  'Lynch',
  'Turing',
];
const WORDS = [
  'today',
  'again',
  'at last',
  'no news',
  'rain',
  'on the train',
  'coffee',
  'who is there',
  'reading',
  'home',
];

const item = (of: readonly string[], random: Random): string =>
  of[wholeBetween(random, 0, of.length - 1)] ?? '';

/** The beginning of a last name. */
export const partOfName = (random: Random): string => item(LAST_NAMES, random).slice(0, 3);

/** A random status message. */
export function statusOf(random: Random): string {
  const words = Array.from({ length: wholeBetween(random, 1, 20) }, () => item(WORDS, random));
  return words.join(' ').slice(0, TEXT_MAX);
}

/** Loads all of it, in batches. */
export function* populate(scale: number, random: Random): Iterable<Operation> {
  const users = usersAt(scale);
  const now = Date.now();
  for (let from = 0; from < users; from += BATCH) {
    const count = Math.min(BATCH, users - from);
    const batch = Array.from({ length: count }, (_, n) =>
      loadedUser(from + n, { users, now, random }),
    );
    yield quoddyStudy.load({ users: batch });
  }
}

interface Circumstances {
  readonly users: number;
  readonly now: number;
  readonly random: Random;
}

function loadedUser(n: number, { users, now, random }: Circumstances): Load['users'][number] {
  const user = userOf(n);
  const others = distinctBelow(random, users, FRIENDS + ASKING + FOLLOWS)
    .map(userOf)
    .filter((other) => other !== user);
  const friends = others.slice(0, FRIENDS);
  const names = { firstName: item(FIRST_NAMES, random), lastName: item(LAST_NAMES, random) };
  const profile = {
    ...names,
    email: `${user}@quoddy.example`,
    bio: statusOf(random),
    password: PASSWORD,
    joinedAfter: now - 2 * DAYS * DAY_MS,
  };
  const updates = Array.from({ length: wholeBetween(random, 1, 2 * UPDATES) }, (_, k) => {
    return {
      update: `${n}.${k}`,
      text: statusOf(random),
      at: now - wholeBetween(random, 0, DAYS * DAY_MS),
    };
  });
  return {
    user,
    profile,
    friends,
    asking: others.slice(FRIENDS, FRIENDS + ASKING),
    follows: others.slice(FRIENDS + ASKING),
    lists: [{ name: 'close', members: friends.slice(0, 2) }],
    // The one that was said last is the one that is shown.
    updates: updates.toSorted((a, b) => a.at - b.at),
  };
}
