/**
 * The social network's implementation. Each row begins with the region of its user, so the red log
 * of that region orders it. A message is ordered in one log. If two users of different regions
 * follow each other, two logs are concerned.
 *
 * Messages get the next number of their author, and a user follows at most `FOLLOWS_MAX` others. So
 * both are red.
 */
import { cell, counter, defineService, red, set, table } from 'correctables/server';
import { FOLLOWS_MAX, SHOWN_MAX, social, type Message } from './contract.ts';

interface Pair {
  readonly follower: string;
  readonly followed: string;
}

export const service = defineService(social, {
  tables: {
    users: table(
      { follows: set<string>(), followers: set<string>(), posts: counter() },
      { partition: 'key' },
    ),
    messages: table({ message: cell<Message>() }, { partition: 'key' }),
  },
  shadowOperations: ({ users, messages }) => ({
    post: red((message: Message) => [
      users.row(message.author).posts.add(1),
      messages.row(toKey(message.author, message.number)).message.assign(message),
    ]),
    follow: red(({ follower, followed }: Pair) => [
      users.row(follower).follows.add(followed),
      users.row(followed).followers.add(follower),
    ]),
    unfollow: red(({ follower, followed }: Pair) => [
      users.row(follower).follows.remove(followed),
      users.row(followed).followers.remove(follower),
    ]),
  }),
  generators: {
    timeline: ({ user }, { tables }) => {
      const authors = [user, ...tables.users.row(user).follows];
      return authors
        .flatMap((author) => {
          const { posts } = tables.users.row(author);
          const count = Math.min(posts, SHOWN_MAX);
          return Array.from(
            { length: count },
            (_, at) => tables.messages.row(toKey(author, posts - at)).message,
          );
        })
        .filter((message) => message !== undefined)
        .toSorted((a, b) => b.sentAtMs - a.sentAtMs)
        .slice(0, SHOWN_MAX);
    },
    post: ({ author, text }, { tables, shadow, now }) => {
      const number = tables.users.row(author).posts + 1;
      return shadow.post({ author, number, text, sentAtMs: now }, number);
    },
    follow: ({ follower, followed }, { tables, shadow }) => {
      const { follows } = tables.users.row(follower);
      if (follower === followed || follows.has(followed) || follows.size >= FOLLOWS_MAX)
        return false;
      return shadow.follow({ follower, followed }, true);
    },
    unfollow: ({ follower, followed }, { tables, shadow }) => {
      const { follows } = tables.users.row(follower);
      return follows.has(followed) ? shadow.unfollow({ follower, followed }, true) : false;
    },
    profiles: ({ users }, { tables }) =>
      users.map((user) => {
        const { follows, followers } = tables.users.row(user);
        return { user, follows: [...follows], followers: [...followers] };
      }),
  },
  invariants: {
    users: { 'a user follows as many as it may': ({ follows }) => follows.size <= FOLLOWS_MAX },
  },
});

function toKey(author: string, number: number): string {
  return `${author}/${number}`;
}
