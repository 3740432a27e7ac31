/**
 * The social network of *Geo-Replicated Storage with Scalable Deferred Update Replication* (DSN
 * 2013, §VI) as its users see it. A page can import this file: it contains names and schemas, not
 * the implementation.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';

/** The maximum number of users that one follows, and of messages that a timeline shows. */
export const FOLLOWS_MAX = 50;
export const SHOWN_MAX = 10;

/** The part before the slash names the region, as in `eu/ada`. */
const user = z.string().min(1).max(64);
const text = z.string().min(1).max(280);

const message = z.object({ author: user, number: z.int(), text, sentAtMs: z.number() });
const profile = z.object({ user, follows: z.array(user), followers: z.array(user) });

export type Message = z.output<typeof message>;
export type Profile = z.output<typeof profile>;

export const social = defineContract('social', {
  /** The newest messages of a user and of those that it follows. */
  timeline: {
    access: 'read',
    partitionBy: 'user',
    args: z.object({ user }),
    result: z.array(message),
  },
  /** Returns the number of the message among those of its author. */
  post: {
    access: 'write',
    partitionBy: 'author',
    args: z.object({ author: user, text }),
    result: z.int(),
  },
  /** Returns false if nothing has to change, or if the user follows as many as it may. */
  follow: {
    access: 'write',
    partitionBy: 'follower',
    args: z.object({ follower: user, followed: user }),
    result: z.boolean(),
  },
  /** Returns false if nothing has to change. */
  unfollow: {
    access: 'write',
    partitionBy: 'follower',
    args: z.object({ follower: user, followed: user }),
    result: z.boolean(),
  },
  /** Who follows whom, among others. */
  profiles: {
    access: 'read',
    partitionBy: 'users.0',
    args: z.object({ users: z.array(user).min(1).max(16) }),
    result: z.array(profile),
  },
});
