/** What clients do: transactions that update two rows, or the social network of the paper. */
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Access, Request } from './system.ts';

export const PARTITIONS = 2;

/** A transaction, and the kinds under whose names its latency counts. */
export interface DrawnRequest extends Request {
  readonly kinds: readonly string[];
}

export interface Workload {
  /** The share of transactions that write. */
  readonly updateShare: number;
  /** The share of those that have rows in both partitions. */
  readonly globalShare: number;
  readonly draw: (random: Random, home: number) => DrawnRequest;
}

export const LOCAL = 'local';
export const GLOBAL = 'global';
/** Locals that have the hot row. */
export const HOT_LOCAL = 'hot local';

const ROWS_PER_PARTITION = 1_000_000;
const HOT_ROW = 0;

/**
 * A local reads and writes two rows of its partition, a global one of each.
 *
 * @param shares the share of globals, and the share of rows of the first partition that are one row
 */
export function createUpdates({
  globals,
  hot,
}: {
  readonly globals: number;
  readonly hot: number;
}): Workload {
  const drawRow = (random: Random, partition: number): Access => {
    const isHot = partition === 0 && random.chance(hot);
    const row = isHot ? HOT_ROW : random.between(1, ROWS_PER_PARTITION);
    return { partition, row, isRead: true, isWritten: true };
  };
  return {
    updateShare: 1,
    globalShare: globals,
    draw(random, home) {
      const isGlobal = random.chance(globals);
      const first = drawRow(random, home);
      if (isGlobal)
        return { home, rows: [first, drawRow(random, getOther(home))], kinds: [GLOBAL] };
      let second = drawRow(random, home);
      while (second.row === first.row) second = drawRow(random, home);
      const isHot = first.row === HOT_ROW || second.row === HOT_ROW;
      return { home, rows: [first, second], kinds: isHot ? [LOCAL, HOT_LOCAL] : [LOCAL] };
    },
  };
}

export const TIMELINE = 'timeline';
export const POST = 'post';
export const LOCAL_FOLLOW = 'local follow';
export const GLOBAL_FOLLOW = 'global follow';

const USERS_PER_PARTITION = 100_000;
const TIMELINE_SHARE = 0.85;
const POST_SHARE = 0.075;
const FOLLOW_SHARE = 0.075;
const GLOBAL_FOLLOW_SHARE = 0.5;
/** How many users a user follows. The paper does not say. */
const FOLLOWED = 10;

/** A user has a row of each of these. */
const USER_ROWS = { posts: 0, producers: 1, consumers: 2 };

/** The social network of the paper: users of two partitions, their posts, and who follows whom. */
export const socialNetwork: Workload = {
  updateShare: POST_SHARE + FOLLOW_SHARE,
  globalShare: (FOLLOW_SHARE * GLOBAL_FOLLOW_SHARE) / (POST_SHARE + FOLLOW_SHARE),
  draw(random, home) {
    const drawn = random.fraction();
    const user = drawUser(random);
    if (drawn < TIMELINE_SHARE)
      return { home, rows: drawTimeline(random, { home, user }), kinds: [TIMELINE] };
    if (drawn < TIMELINE_SHARE + POST_SHARE)
      return { home, rows: [update(home, user, 'posts')], kinds: [POST] };
    const isGlobal = random.chance(GLOBAL_FOLLOW_SHARE);
    const followed = update(isGlobal ? getOther(home) : home, drawUser(random), 'consumers');
    return {
      home,
      rows: [update(home, user, 'producers'), followed],
      kinds: [isGlobal ? GLOBAL_FOLLOW : LOCAL_FOLLOW],
    };
  },
};

function drawTimeline(
  random: Random,
  { home, user }: { readonly home: number; readonly user: number },
): Access[] {
  const posts = Array.from({ length: FOLLOWED }, () => {
    const partition = random.chance(GLOBAL_FOLLOW_SHARE) ? getOther(home) : home;
    return read(partition, drawUser(random), 'posts');
  });
  return [read(home, user, 'producers'), ...posts];
}

function drawUser(random: Random): number {
  return random.between(0, USERS_PER_PARTITION - 1);
}

function read(partition: number, user: number, row: keyof typeof USER_ROWS): Access {
  return { partition, row: toRow(user, row), isRead: true, isWritten: false };
}

function update(partition: number, user: number, row: keyof typeof USER_ROWS): Access {
  return { partition, row: toRow(user, row), isRead: true, isWritten: true };
}

function toRow(user: number, row: keyof typeof USER_ROWS): number {
  return Object.keys(USER_ROWS).length * user + USER_ROWS[row];
}

function getOther(partition: number): number {
  return PARTITIONS - 1 - partition;
}
