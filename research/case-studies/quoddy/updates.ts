/** The four transactions that change something. */
import type { GeneratorsOf } from './generators.ts';

type Updates = 'updateStatus' | 'addToFollow' | 'addFriend' | 'confirmFriend';

export const updateGenerators: GeneratorsOf<Updates> = {
  updateStatus: ({ user, text }, { shadow, uniqueId, now }) => {
    const id = uniqueId();
    return shadow.updateStatus({ user, id, text, at: now }, { update: id });
  },
  addToFollow: ({ user, other }, { shadow }) =>
    user === other ? null : shadow.addToFollow({ user, other }, null),
  addFriend: ({ user, other }, { tables, shadow }) => {
    if (user === other || tables.users.row(user).friends.has(other)) return null;
    return shadow.addFriend({ user, other }, null);
  },
  confirmFriend: ({ user, other }, { tables, shadow }) => {
    if (!tables.users.row(user).requests.has(other)) return { confirmed: false };
    return shadow.confirmFriend({ user, other }, { confirmed: true });
  },
};
