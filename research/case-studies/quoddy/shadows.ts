/**
 * The shadow operations of Quoddy: one a transaction, all of them blue (RedBlue, OSDI 2012, §7.3).
 */
import { blue, type EffectTables } from 'correctables/server';
import { doneKey } from './keys.ts';
import type { tables } from './tables.ts';

interface StatusUpdate {
  readonly user: string;
  readonly id: string;
  readonly text: string;
  readonly at: number;
}

/** A user, and another user. */
interface Two {
  readonly user: string;
  readonly other: string;
}

type On = EffectTables<typeof tables>;

/** The effects that transactions and the loading of data have in common. */
export const effectsOn = ({ users, updates, activities }: On) => ({
  setStatus: ({ user, id, text, at }: StatusUpdate) => {
    const key = doneKey(user, at, id);
    const about = { owner: user, verb: 'status_update', content: text, at };
    return [
      updates.row(key).text.write(text),
      activities.row(key).about.write(about),
      users.row(user).status.write(key),
    ];
  },
});

export const shadowOperations = (on: On) => {
  const { users } = on;
  return {
    updateStatus: blue(effectsOn(on).setStatus),
    addToFollow: blue(({ user, other }: Two) => [users.row(user).follows.add(other)]),
    addFriend: blue(({ user, other }: Two) => [users.row(other).requests.add(user)]),
    confirmFriend: blue(({ user, other }: Two) => [
      users.row(user).requests.remove(other),
      users.row(user).friends.add(other),
      users.row(other).friends.add(user),
    ]),
  };
};
