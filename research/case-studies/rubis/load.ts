/**
 * Filling the database: no transaction of RUBiS's, which is full before its first visitor comes.
 */
import { red, type EffectTables, type Generators } from 'correctables/server';
import type { z } from 'zod';
import type { rubisStudy } from './contract.ts';
import type { Readers } from './generators.ts';
import { effectsOn, shadowOperations } from './shadows.ts';
import type { tables } from './tables.ts';

export type Load = z.infer<(typeof rubisStudy)['operations']['load']['args']>;

/** Red, since users have nicknames: several clients that load the same at once load it once. */
const loadShadow = (on: EffectTables<typeof tables>) => {
  const { newUser, newItem, newBid, newComment } = effectsOn(on);
  return red(({ categories, regions, users, items }: Load) => [
    ...categories.map(({ id, name }) => on.categories.row(id).name.write(name)),
    ...regions.map(({ id, name }) => on.regions.row(id).name.write(name)),
    ...users.flatMap((item) => [
      ...newUser(item),
      on.users
        .row(item.user)
        .rating.add(item.comments.reduce((sum, { comment }) => sum + comment.rating, 0)),
      ...item.comments.flatMap(newComment),
    ]),
    ...items.flatMap((item) => [
      ...newItem(item),
      ...(item.about.buyNow > 0 ? [on.items.row(item.item).stock.add(item.about.quantity)] : []),
      ...item.bids.flatMap(newBid),
    ]),
  ]);
};

/** The shadow operations of the study. */
export const studyShadows = (on: EffectTables<typeof tables>) => ({
  ...shadowOperations(on),
  load: loadShadow(on),
});

type Specs = (typeof rubisStudy)['operations'];

export const loadGenerators: Generators<
  Specs,
  typeof tables,
  ReturnType<typeof studyShadows>,
  'load'
> = {
  load: (value, { tables: readers, shadow }) => shadow.load(missingOf(value, readers), null),
};

/** Of what is to be loaded, what is not there. */
function missingOf(value: Load, { users, nicknames, items }: Readers): Load {
  return {
    ...value,
    users: value.users.filter(({ user, profile }) => {
      return users.row(user).made === 0 && nicknames.row(profile.nickname).taken === 0;
    }),
    items: value.items.filter(({ item }) => items.row(item).made === 0),
  };
}
