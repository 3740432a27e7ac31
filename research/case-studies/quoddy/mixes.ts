/**
 * How often each of Quoddy's thirteen requests is asked for. The paper says that 85 of a hundred
 * only read, and names what the others do (RedBlue, OSDI 2012, §8.4); it does not say how these are
 * divided. Here people mostly look at news and at each other, as in the measurements of social
 * networks that the paper follows.
 */
import type { Mix } from '../case-study.ts';

export const mixes = {
  social: {
    login: 3,
    home: 28,
    viewUser: 26,
    listUpdates: 10,
    listFriends: 9,
    listFriendRequests: 3,
    listFollowers: 2,
    listFollowed: 2,
    searchPeople: 2,

    updateStatus: 6,
    addFriend: 5,
    confirmFriend: 3,
    addToFollow: 1,
  },
} as const satisfies Readonly<Record<string, Mix>>;
