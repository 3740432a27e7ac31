/**
 * Filling the network: no transaction of Quoddy's, whose users are there before the first request
 * comes.
 */
import { blue, type EffectTables, type Generators } from 'correctables/server';
import type { z } from 'zod';
import { joined } from '../composite-keys.ts';
import type { quoddyStudy } from './contract.ts';
import type { Readers } from './generators.ts';
import { effectsOn, shadowOperations } from './shadows.ts';
import type { tables } from './tables.ts';

export type Load = z.infer<(typeof quoddyStudy)['operations']['load']['args']>;

/** The stream that everybody has. */
const STREAM = 'Default';

/** Blue: who loads the same twice, at whatever site, writes the same twice. */
const loadShadow = (on: EffectTables<typeof tables>) => {
  const { users, streams, userLists } = on;
  const { setStatus } = effectsOn(on);
  return blue(({ users: loaded }: Load) =>
    loaded.flatMap(({ user, profile, friends, asking, follows, lists, updates }) => [
      users.row(user).profile.write(profile),
      users.row(user).name.write(`${profile.lastName} ${profile.firstName}`.toLowerCase()),
      ...friends.flatMap((other) => [
        users.row(user).friends.add(other),
        users.row(other).friends.add(user),
      ]),
      ...asking.map((other) => users.row(user).requests.add(other)),
      ...follows.map((other) => users.row(user).follows.add(other)),
      streams.row(joined(user, STREAM)).definedBy.write('system'),
      ...lists.flatMap(({ name, members }) => {
        const list = userLists.row(joined(user, name));
        return members.map((member) => list.members.add(member));
      }),
      ...updates.flatMap(({ update, text, at }) => setStatus({ user, id: update, text, at })),
    ]),
  );
};

/** The shadow operations of the study. */
export const studyShadows = (on: EffectTables<typeof tables>) => ({
  ...shadowOperations(on),
  load: loadShadow(on),
});

type Specs = (typeof quoddyStudy)['operations'];

export const loadGenerators: Generators<
  Specs,
  typeof tables,
  ReturnType<typeof studyShadows>,
  'load'
> = {
  load: (value, { tables: readers, shadow }) => shadow.load(missingOf(value, readers), null),
};

/** Of what is to be loaded, what is not there. A friend may have come before the user. */
function missingOf({ users: value }: Load, { users }: Readers): Load {
  return { users: value.filter(({ user }) => users.row(user).profile === undefined) };
}
