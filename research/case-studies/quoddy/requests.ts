/**
 * What a click in the network does: the thirteen requests of Quoddy, each of one to four
 * transactions.
 */
import { wholeBetween } from '../../../demo/shared/random.ts';
import type { Request, Seat } from '../case-study.ts';
import { quoddyStudy as quoddy } from './contract.ts';
import { loginOf, partOfName, statusOf, userOf, usersAt } from './data.ts';
import type { mixes } from './mixes.ts';

type RequestName = keyof (typeof mixes)['social'];
type People = readonly { readonly user: string }[];

/** Signs a user in. */
export function enter({ store, random, scale }: Seat): Readonly<Record<RequestName, Request>> {
  const users = usersAt(scale);
  const below = (count: number): number => wholeBetween(random, 0, count - 1);
  let me = loginOf(below(users));
  /** A user whom a page has shown. */
  let noticed: string | undefined;
  /** Those who have asked to be friends. */
  let asking: string[] = [];

  const notice = (found: People): void => {
    noticed = found[below(Math.max(1, found.length))]?.user ?? noticed;
  };
  const anybody = (): string => userOf(below(users));
  const myRequests = async (): Promise<void> => {
    asking = (await store.ask(quoddy.listFriendRequests({ user: me.user }))).map(
      ({ user }) => user,
    );
  };

  return {
    /** One session ends, and another user's begins. */
    async login() {
      me = loginOf(below(users));
      asking = [];
      noticed = undefined;
      await store.ask(quoddy.findAccount(me));
    },
    async home() {
      const { user } = me;
      await store.ask(quoddy.findUser({ user }));
      const news = await store.ask(quoddy.recentActivities({ user }));
      await store.ask(quoddy.listStreams({ user }));
      await store.ask(quoddy.listUserLists({ user }));
      notice(news.map(({ owner }) => ({ user: owner })));
    },
    async viewUser() {
      await store.ask(quoddy.findUser({ user: noticed ?? anybody() }));
    },
    async listUpdates() {
      await store.ask(quoddy.listUpdates({ user: me.user }));
    },
    async listFriends() {
      notice(await store.ask(quoddy.listFriends({ user: me.user })));
    },
    listFriendRequests: myRequests,
    async listFollowers() {
      notice(await store.ask(quoddy.listFollowers({ user: me.user })));
    },
    async listFollowed() {
      notice(await store.ask(quoddy.listFollowed({ user: me.user })));
    },
    async searchPeople() {
      notice(await store.ask(quoddy.searchPeople({ name: partOfName(random) })));
    },

    async updateStatus() {
      await store.ask(quoddy.updateStatus({ user: me.user, text: statusOf(random) }));
    },
    async addFriend() {
      await store.ask(quoddy.addFriend({ user: me.user, other: anybody() }));
    },
    async confirmFriend() {
      if (asking.length === 0) await myRequests();
      // A user without requests sends one: so as many requests change something as the mix
      // specifies.
      const other = asking.pop();
      if (other !== undefined) await store.ask(quoddy.confirmFriend({ user: me.user, other }));
      else await store.ask(quoddy.addFriend({ user: me.user, other: anybody() }));
    },
    async addToFollow() {
      await store.ask(quoddy.addToFollow({ user: me.user, other: anybody() }));
    },
  };
}
