/**
 * The operations of the timelines' store (Correctables, OSDI 2016, §6.3.1): a timeline refers to
 * tweets. A page imports this file, never the service.
 */
import { defineContract, operation } from 'correctables/contract';
import * as z from 'zod';

const id = z.string().min(1).max(64);
const tweetSchema = z.object({ id, author: id, body: z.string().max(280) });

/** A tweet as the store has it. */
export interface Tweet {
  readonly id: string;
  readonly author: string;
  readonly body: string;
}

/** The maximum number of tweets that a timeline shows, newest first. */
export const SHOWN_MAX = 40;
/** The maximum number of tweets in one `loadTweets`. */
export const BATCH_MAX = 500;

export const twissandraContract = defineContract('twissandra', {
  /** The newest tweets of a timeline, by reference; an empty array for an unknown user. */
  getTimeline: operation({
    access: 'read',
    args: z.object({ user: id }),
    result: z.array(id).max(SHOWN_MAX),
    key: ({ user }) => user,
  }),
  /** Many tweets in one read, in the order of `ids`; null for a missing tweet. */
  getTweets: operation({
    access: 'read',
    args: z.object({ ids: z.array(id).max(SHOWN_MAX) }),
    result: z.array(tweetSchema.nullable()),
  }),
  /** Posts a tweet to its author's timeline; returns its reference. */
  post: operation({
    access: 'write',
    args: z.object({ user: id, body: z.string().max(280) }),
    result: id,
    key: ({ user }) => user,
  }),
  /** Loads tweets that have references already, each into one timeline. */
  loadTweets: operation({
    access: 'write',
    args: z.object({ posts: z.array(z.object({ user: id, tweet: tweetSchema })).max(BATCH_MAX) }),
    result: z.void(),
  }),
});
