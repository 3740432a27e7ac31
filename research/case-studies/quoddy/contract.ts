/**
 * The social network Quoddy as its web servers ask for it: fifteen transactions (RedBlue, OSDI
 * 2012, §7.3), eleven reads and four updates. Times are in milliseconds since the epoch, so alike
 * everywhere.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';
import { auditOperation } from '../audit.ts';

/** Without control characters: they stand between the parts of keys. */
const id = z
  .string()
  .max(100)
  .regex(/^\P{Cc}+$/u);
const text = z.string().max(1000);
const at = z.number();
const user = z.object({ user: id });

/** What does not change of a user. */
export const profile = z.object({
  firstName: text,
  lastName: text,
  email: text,
  bio: text,
  password: text,
  joinedAfter: at,
});

const person = z.object({ user: id, name: text });
const people = z.array(person);
const status = z.object({ text, at });
/** An entry in a stream of news: one activity of a user. */
export const activity = z.object({ owner: id, verb: text, content: text, at });

const read = 'read';
const update = 'write';

/** The transactions. What there is not is `null`. */
const transactions = {
  /** Returns the account if the password is right. */
  findAccount: {
    access: read,
    args: z.object({ user: id, password: text }),
    result: person.nullable(),
  },
  findUser: {
    access: read,
    args: user,
    result: profile
      .omit({ password: true })
      .extend({ ...person.shape, status: status.nullable(), friends: z.int(), follows: z.int() })
      .nullable(),
  },
  /** By the beginning of the last name. */
  searchPeople: { access: read, args: z.object({ name: text }), result: people },
  /** What the user and the friends of the user did last, newest first. */
  recentActivities: { access: read, args: user, result: z.array(activity) },
  listStreams: { access: read, args: user, result: z.array(z.object({ name: text })) },
  listUserLists: {
    access: read,
    args: user,
    result: z.array(z.object({ name: text, members: z.int() })),
  },
  listFriends: { access: read, args: user, result: people },
  listFollowers: { access: read, args: user, result: people },
  listFollowed: { access: read, args: user, result: people },
  listFriendRequests: { access: read, args: user, result: people },
  listUpdates: { access: read, args: user, result: z.array(status) },

  updateStatus: {
    access: update,
    color: 'blue',
    args: z.object({ user: id, text }),
    result: z.object({ update: id }),
  },
  addToFollow: {
    access: update,
    color: 'blue',
    args: z.object({ user: id, other: id }),
    result: z.null(),
  },
  /** Asks `other` to be a friend. */
  addFriend: {
    access: update,
    color: 'blue',
    args: z.object({ user: id, other: id }),
    result: z.null(),
  },
  /** Says yes to what `other` has asked; nothing where that is nothing, as the site knows it. */
  confirmFriend: {
    access: update,
    color: 'blue',
    args: z.object({ user: id, other: id }),
    result: z.object({ confirmed: z.boolean() }),
  },
} as const;

export const quoddy = defineContract('quoddy', transactions);

/** The same beside what fills the database, and looks at all of it. */
export const quoddyStudy = defineContract('quoddy', {
  ...transactions,
  /** What is there already stays as it is. */
  load: {
    access: update,
    color: 'blue',
    args: z.object({
      users: z.array(
        z.object({
          user: id,
          profile,
          /** A friend of a friend is notified too. */
          friends: z.array(id),
          asking: z.array(id),
          follows: z.array(id),
          lists: z.array(z.object({ name: id, members: z.array(id) })),
          updates: z.array(status.extend({ update: id })),
        }),
      ),
    }),
    result: z.null(),
  },
  audit: auditOperation,
});
