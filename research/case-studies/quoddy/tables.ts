/**
 * The tables of Quoddy. Its relations between users are sets here, in the row of the user, so that
 * concurrent additions at several sites are all kept.
 */
import {
  register,
  set,
  table,
  type Invariants,
  type SnapshotInvariants,
} from 'correctables/server';
import type { z } from 'zod';
import { ofAllRows, type Bonds } from '../cross-table-invariants.ts';
import type { activity, profile } from './contract.ts';

export type Profile = z.infer<typeof profile>;
export type Activity = z.infer<typeof activity>;

export const tables = {
  users: table(
    {
      profile: register<Profile>(),
      /** Last and first name, in small letters: what a search for people finds. */
      name: register<string>(),
      /** The key of the update that is shown. */
      status: register<string>(),
      friends: set<string>(),
      /** The users that want to be friends. */
      requests: set<string>(),
      follows: set<string>(),
    },
    { indexes: ['name', 'follows'] },
  ),
  /** By user, time and identifier; so are activities. */
  updates: table({ text: register<string>() }),
  activities: table({ about: register<Activity>() }),
  /** By user and name; so are lists. */
  streams: table({ definedBy: register<string>() }),
  userLists: table({ members: set<string>() }),
};

/** In the original, too, nothing of a user by itself can be wrong (§7.3). */
export const invariants: Invariants<typeof tables> = {};

/**
 * Invariants that hold all the same, since a shadow operation is seen as a whole or not at all. One
 * does not hold: a friend may still have a request, since one site may repeat what another one
 * confirms.
 */
export const bonds: Bonds<typeof tables> = {
  users: {
    'friendship is mutual': (user, { users }) =>
      [...users.row(user).friends].every((other) => users.row(other).friends.has(user)),
    'no user is their own friend': (user, { users }) => !users.row(user).friends.has(user),
    'a status is an update of its user': (user, { users, updates }) => {
      const { status } = users.row(user);
      return status === undefined || updates.has(status);
    },
  },
  updates: {
    'every update is in the activities': (key, { updates, activities }) =>
      activities.row(key).about?.content === updates.row(key).text,
  },
};

export const snapshotInvariants: SnapshotInvariants<typeof tables> = ofAllRows(bonds);
