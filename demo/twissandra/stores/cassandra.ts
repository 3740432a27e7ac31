/**
 * The timelines in tables of Apache Cassandra, as in Twissandra itself, with one of three read
 * strategies.
 */
import { randomUUID } from 'node:crypto';
import { CorrectableError } from 'correctables';
import { defineStatements, rows } from 'correctables/bindings/cassandra';
import * as z from 'zod';
import type { OpenStore } from '../../shared/speculation/store.ts';
import { inOrderOf } from '../../shared/order-rows.ts';
import { openCassandra } from '../../shared/cassandra/open.ts';
import type { Translations } from '../../shared/translate-operations.ts';
import { SHOWN_MAX, twissandraContract, type Tweet } from '../contract.ts';
import type { TweetData } from '../data.ts';

/** A timeline is a partition with its newest tweet first. */
const TABLES = [
  'CREATE TABLE timelines (user text, posted bigint, tweet text, PRIMARY KEY (user, posted, tweet))' +
    ' WITH CLUSTERING ORDER BY (posted DESC, tweet DESC)',
  'CREATE TABLE tweets (id text PRIMARY KEY, author text, body text)',
];
const PUT_TWEET = 'INSERT INTO tweets (id, author, body) VALUES (:id, :author, :body)';
const PUT_POST = 'INSERT INTO timelines (user, posted, tweet) VALUES (:author, :posted, :id)';

const tweet = z.object({ id: z.string(), author: z.string(), body: z.string() });

const statements = defineStatements({
  timeline: {
    access: 'read',
    cql: `SELECT tweet FROM timelines WHERE user = :user LIMIT ${SHOWN_MAX}`,
    args: z.object({ user: z.string() }),
    result: rows((row) => row['tweet'] as string, { max: SHOWN_MAX }),
  },
  tweets: {
    access: 'read',
    // Without a limit the coordinator would read one partition after the other, to fill pages.
    cql: `SELECT id, author, body FROM tweets WHERE id IN :ids LIMIT ${SHOWN_MAX}`,
    args: z.object({ ids: z.array(z.string()) }),
    result: rows(tweet, { max: SHOWN_MAX }),
  },
  putTweet: { access: 'write', cql: PUT_TWEET, args: tweet, isIdempotent: true },
  putPost: {
    access: 'write',
    cql: PUT_POST,
    args: z.object({ author: z.string(), posted: z.bigint(), id: z.string() }),
    isIdempotent: true,
  },
});

/** Returns the time in microseconds, so that two tweets of one client rarely have the same time. */
function now(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000));
}

const translations = {
  getTimeline: ({ user }: { user: string }) => ({ operation: statements.timeline({ user }) }),
  getTweets: ({ ids }: { ids: string[] }) => ({
    operation: statements.tweets({ ids }),
    result: (found: Tweet[]) => inOrderOf(ids, found),
  }),
  post: ({ user, body }: { user: string; body: string }) => {
    const id = `tweet-${randomUUID()}`;
    return {
      // Write the tweet first, so that a client which sees the reference finds the tweet.
      first: statements.putTweet({ id, author: user, body }),
      operation: statements.putPost({ author: user, posted: now(), id }),
      result: () => id,
    };
  },
  loadTweets: () => {
    throw new CorrectableError('UNSUPPORTED', 'loadTweets: post tweets one at a time on Cassandra');
  },
} satisfies Translations;

export const openCassandraTimelines: OpenStore<TweetData> = (data, options, progress) =>
  openCassandra(
    {
      name: 'twissandra',
      contract: twissandraContract,
      tables: TABLES,
      statements,
      translations,
      async fill(keyspace) {
        progress(`loading ${data.tweets} tweets into ${data.timelines} timelines`);
        const posts = Array.from({ length: data.tweets }, (_, index) => data.post(index));
        await keyspace.fill(
          PUT_TWEET.replaceAll(/:\w+/g, '?'),
          posts.map(({ tweet: { id, author, body } }) => [id, author, body]),
        );
        await keyspace.fill(
          PUT_POST.replaceAll(/:\w+/g, '?'),
          posts.map(({ user, tweet: { id } }, index) => [user, String(index), id]),
        );
      },
    },
    options,
    progress,
  );
