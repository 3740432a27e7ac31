/**
 * The timelines' service for the RedBlue backend. A timeline is a log, so that concurrent tweets of
 * several sites are all kept. Posting is blue, final at `causal`. A strong read shows what its site
 * has after a round trip through the red order.
 */
import { blue, defineService, log, register, table } from 'correctables/server';
import { SHOWN_MAX, twissandraContract, type Tweet } from './contract.ts';

interface Post {
  readonly user: string;
  readonly tweet: Tweet;
}

export const service = defineService(twissandraContract, {
  tables: {
    timelines: table({ tweets: log<string>() }),
    tweets: table({ tweet: register<Tweet>() }),
  },
  shadowOperations: ({ timelines, tweets }) => ({
    post: blue(({ posts }: { posts: readonly Post[] }) =>
      posts.flatMap(({ user, tweet }) => [
        tweets.row(tweet.id).tweet.write(tweet),
        timelines.row(user).tweets.append(tweet.id),
      ]),
    ),
  }),
  generators: {
    getTimeline: ({ user }, { tables }) =>
      tables.timelines.row(user).tweets.slice(-SHOWN_MAX).toReversed(),
    getTweets: ({ ids }, { tables }) => ids.map((id) => tables.tweets.row(id).tweet ?? null),
    post: ({ user, body }, { shadow, uniqueId }) => {
      const tweet = { id: `tweet-${uniqueId()}`, author: user, body };
      return shadow.post({ posts: [{ user, tweet }] }, tweet.id);
    },
    loadTweets: (args, { shadow }) => shadow.post(args, undefined),
  },
});
