/**
 * The timelines' data, made from a seed, in the shape of the Correctables paper (OSDI 2016,
 * §6.3.1): 65 000 tweets spread over 22 000 timelines.
 */
import { seededAt, wholeBetween, type Random } from '../shared/random.ts';
import type { Tweet } from './contract.ts';

export const PAPER_SIZES = { timelines: 22_000, tweets: 65_000 } as const;

const OPENINGS = [
  'Just read',
  'Cannot believe',
  'Again',
  'Slowly getting used to',
  'Three cheers for',
  'Not sure about',
];
const SUBJECTS = [
  'the paper on views',
  'rain in Dublin',
  'the late train',
  'eventual consistency',
  'my new kettle',
  'quorums',
];

export interface TweetData {
  readonly timelines: number;
  readonly tweets: number;
  /** Returns a tweet of the corpus, and the user whose timeline contains it. */
  post(index: number): { readonly user: string; readonly tweet: Tweet };
  /** Draws the text of a new tweet. */
  newBody(random: Random): string;
}

/** The name of a user, by number. */
export const userOf = (user: number): string => `user-${user}`;

/**
 * Creates data of `scale` times the paper's size. Equal seeds lead to equal data, in whatever order
 * it is read.
 */
export function tweetData({
  scale,
  seed,
}: {
  readonly scale: number;
  readonly seed: number;
}): TweetData {
  const timelines = Math.max(1, Math.round(PAPER_SIZES.timelines * scale));
  const tweets = Math.max(timelines, Math.round(PAPER_SIZES.tweets * scale));
  return {
    timelines,
    tweets,
    post(index) {
      const random = seededAt(seed, index);
      // Every timeline has at least one tweet. The others are distributed at random.
      const user = userOf(index < timelines ? index : wholeBetween(random, 0, timelines - 1));
      return { user, tweet: { id: `tweet-${index}`, author: user, body: bodyOf(random) } };
    },
    newBody: bodyOf,
  };
}

function bodyOf(random: Random): string {
  const pick = (texts: readonly string[]): string =>
    texts[wholeBetween(random, 0, texts.length - 1)] as string;
  return `${pick(OPENINGS)} ${pick(SUBJECTS)}.`;
}
