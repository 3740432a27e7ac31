/** Looking at people, and at who belongs to whom. */
import type { GeneratorsOf, Readers } from './generators.ts';
import { doneAt } from './keys.ts';

/** People on one page. */
const SHOWN_MAX = 100;

/** A user as lists show them. */
function personOf({ users }: Readers, user: string) {
  const { firstName = '', lastName = '' } = users.row(user).profile ?? {};
  return { user, name: `${firstName} ${lastName}`.trim() };
}

/** The first of them as a page shows them. */
function peopleOf(tables: Readers, users: Iterable<string>) {
  const shown: ReturnType<typeof personOf>[] = [];
  for (const user of users) {
    if (shown.length === SHOWN_MAX) break;
    shown.push(personOf(tables, user));
  }
  return shown;
}

type Reads =
  | 'findAccount'
  | 'findUser'
  | 'searchPeople'
  | 'listFriends'
  | 'listFollowers'
  | 'listFollowed'
  | 'listFriendRequests';

export const peopleGenerators: GeneratorsOf<Reads> = {
  findAccount: ({ user, password }, { tables }) =>
    tables.users.row(user).profile?.password === password ? personOf(tables, user) : null,
  findUser: ({ user }, { tables }) => {
    const { profile, status, friends, follows } = tables.users.row(user);
    if (profile === undefined) return null;
    const { password: _, ...known } = profile;
    const text = status === undefined ? undefined : tables.updates.row(status).text;
    const shown = text === undefined || status === undefined ? null : { text, at: doneAt(status) };
    return {
      ...known,
      ...personOf(tables, user),
      status: shown,
      friends: friends.size,
      follows: follows.size,
    };
  },
  searchPeople: ({ name }, { tables }) =>
    peopleOf(tables, tables.users.by.name({ prefix: name.toLowerCase(), limit: SHOWN_MAX })),
  listFriends: ({ user }, { tables }) => peopleOf(tables, tables.users.row(user).friends),
  listFollowers: ({ user }, { tables }) =>
    peopleOf(tables, tables.users.by.follows({ equals: user, limit: SHOWN_MAX })),
  listFollowed: ({ user }, { tables }) => peopleOf(tables, tables.users.row(user).follows),
  listFriendRequests: ({ user }, { tables }) => {
    const { requests, friends } = tables.users.row(user);
    return peopleOf(
      tables,
      [...requests].filter((other) => !friends.has(other)),
    );
  },
};
