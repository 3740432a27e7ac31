/** What people have said and done. */
import { getPart, prefixOf } from '../composite-keys.ts';
import type { GeneratorsOf, Readers } from './generators.ts';
import { doneAt } from './keys.ts';
import type { Activity } from './tables.ts';

/** Activities on the home page of a user. */
const RECENT_MAX = 25;
/** Friends whose activities it looks for: as many as a person knows. */
const FRIENDS_MAX = 150;
const UPDATES_MAX = 50;

/** What one user did last. */
function lastOf({ activities }: Readers, user: string): readonly Activity[] {
  const keys = activities.keys({ prefix: prefixOf(user), limit: RECENT_MAX, reverse: true });
  return keys.flatMap((key) => activities.row(key).about ?? []);
}

export const newsGenerators: GeneratorsOf<
  'recentActivities' | 'listStreams' | 'listUserLists' | 'listUpdates'
> = {
  recentActivities: ({ user }, { tables }) => {
    const friends = [...tables.users.row(user).friends].slice(0, FRIENDS_MAX);
    const all = [user, ...friends].flatMap((item) => lastOf(tables, item));
    return all.toSorted((a, b) => b.at - a.at).slice(0, RECENT_MAX);
  },
  listStreams: ({ user }, { tables: { streams } }) =>
    streams.keys({ prefix: prefixOf(user) }).map((key) => ({ name: getPart(key, 1) })),
  listUserLists: ({ user }, { tables: { userLists } }) =>
    userLists.keys({ prefix: prefixOf(user) }).map((key) => {
      return { name: getPart(key, 1), members: userLists.row(key).members.size };
    }),
  listUpdates: ({ user }, { tables: { updates } }) =>
    updates.keys({ prefix: prefixOf(user), limit: UPDATES_MAX, reverse: true }).map((key) => {
      return { text: updates.row(key).text ?? '', at: doneAt(key) };
    }),
};
