/**
 * The social network Quoddy: what its transactions do, and what two sites do together (RedBlue,
 * OSDI 2012, §7.3).
 */
import { expect, test } from 'vitest';
import { quoddy, quoddyStudy } from '../../../../research/case-studies/quoddy/contract.ts';
import { service } from '../../../../research/case-studies/quoddy/service.ts';
import { study } from '../../../../research/case-studies/quoddy/study.ts';
import { getFinal, twoSites, until } from './two-sites.ts';

const users = (found: readonly { readonly user: string }[]): string[] =>
  found.map(({ user }) => user);

test('asked and confirmed → friends of each other, at once at the confirming site, and final there', async () => {
  await using sites = twoSites(service);
  const { east } = sites;
  expect((await getFinal(east, quoddy.addFriend({ user: 'ann', other: 'bob' }))).level).toBe(
    'causal',
  );
  expect(users(await east.invoke(quoddy.listFriendRequests({ user: 'bob' })))).toEqual(['ann']);
  expect(users(await east.invoke(quoddy.listFriends({ user: 'bob' })))).toEqual([]);
  const { value, level } = await getFinal(
    east,
    quoddy.confirmFriend({ user: 'bob', other: 'ann' }),
  );
  expect([value, level]).toEqual([{ confirmed: true }, 'causal']);
  expect(users(await east.invoke(quoddy.listFriends({ user: 'ann' })))).toEqual(['bob']);
  expect(users(await east.invoke(quoddy.listFriends({ user: 'bob' })))).toEqual(['ann']);
  expect(await east.invoke(quoddy.listFriendRequests({ user: 'bob' }))).toEqual([]);
  expect(await east.invoke(quoddy.confirmFriend({ user: 'bob', other: 'ann' }))).toEqual({
    confirmed: false,
  });
});

test('a confirmation without a request, of a friend, or of oneself → nothing changes', async () => {
  await using sites = twoSites(service);
  const { east } = sites;
  expect(await east.invoke(quoddy.confirmFriend({ user: 'bob', other: 'ann' }))).toEqual({
    confirmed: false,
  });
  await east.invoke(quoddy.addFriend({ user: 'ann', other: 'ann' }));
  expect(await east.invoke(quoddy.listFriendRequests({ user: 'ann' }))).toEqual([]);
  await east.invoke(quoddy.addToFollow({ user: 'ann', other: 'ann' }));
  expect(await east.invoke(quoddy.listFollowed({ user: 'ann' }))).toEqual([]);
  await east.invoke(quoddy.addFriend({ user: 'ann', other: 'bob' }));
  await east.invoke(quoddy.confirmFriend({ user: 'bob', other: 'ann' }));
  await east.invoke(quoddy.addFriend({ user: 'bob', other: 'ann' }));
  expect(await east.invoke(quoddy.listFriendRequests({ user: 'ann' }))).toEqual([]);
  expect(await east.invoke(quoddy.confirmFriend({ user: 'ann', other: 'bob' }))).toEqual({
    confirmed: false,
  });
});

test('asked at one site, confirmed at another, while others are asked → no friend is lost, at either site', async () => {
  await using sites = twoSites(service);
  const { east, west } = sites;
  await east.invoke(quoddy.addFriend({ user: 'ann', other: 'bob' }));
  await until(west, quoddy.listFriendRequests({ user: 'bob' }), (found) => found.length === 1);
  await Promise.all([
    west.invoke(quoddy.confirmFriend({ user: 'bob', other: 'ann' })),
    east.invoke(quoddy.addFriend({ user: 'cid', other: 'bob' })),
    // Again, by who does not know of the answer.
    east.invoke(quoddy.addFriend({ user: 'ann', other: 'bob' })),
  ]);
  for (const client of [east, west]) {
    await until(client, quoddy.listFriends({ user: 'ann' }), (found) => found.length === 1);
    const asking = await until(
      client,
      quoddy.listFriendRequests({ user: 'bob' }),
      (found) => found.length > 0,
    );
    expect(users(asking)).toEqual(['cid']);
  }
  expect(sites.alarms).toEqual([]);
});

test('statuses → the last is shown, all are listed, and friends read them newest first', async () => {
  await using sites = twoSites(study.service);
  const { east } = sites;
  const none = { friends: [], asking: [], follows: [], lists: [], updates: [] };
  const profile = {
    firstName: 'Ann',
    lastName: 'Apple',
    email: 'a',
    bio: '',
    password: 'secret',
    joinedAfter: 1,
  };
  const bob = {
    user: 'bob',
    profile: { ...profile, firstName: 'Bob', lastName: 'Berry' },
    ...none,
  };
  const updates = [{ update: '1', text: 'long ago', at: 1000 }];
  const lists = [{ name: 'close', members: ['bob'] }];
  await east.invoke(
    quoddyStudy.load({
      users: [{ user: 'ann', profile, ...none, friends: ['bob'], updates, lists }, bob],
    }),
  );
  await east.invoke(quoddy.updateStatus({ user: 'ann', text: 'today' }));
  await east.invoke(quoddy.updateStatus({ user: 'bob', text: 'me too' }));
  const ann = await east.invoke(quoddy.findUser({ user: 'ann' }));
  expect(ann).toMatchObject({ name: 'Ann Apple', friends: 1, status: { text: 'today' } });
  expect(ann).not.toHaveProperty('password');
  const reported = await east.invoke(quoddy.listUpdates({ user: 'ann' }));
  expect(reported.map(({ text }) => text)).toEqual(['today', 'long ago']);
  const news = await east.invoke(quoddy.recentActivities({ user: 'bob' }));
  expect(news.map(({ owner, content }) => `${owner}: ${content}`)).toEqual([
    'bob: me too',
    'ann: today',
    'ann: long ago',
  ]);
  expect(await east.invoke(quoddy.listStreams({ user: 'ann' }))).toEqual([{ name: 'Default' }]);
  expect(await east.invoke(quoddy.listUserLists({ user: 'ann' }))).toEqual([
    { name: 'close', members: 1 },
  ]);
  expect(users(await east.invoke(quoddy.searchPeople({ name: 'Ber' })))).toEqual(['bob']);
  expect(await east.invoke(quoddy.findAccount({ user: 'ann', password: 'secret' }))).toMatchObject({
    user: 'ann',
  });
  expect(await east.invoke(quoddy.findAccount({ user: 'ann', password: 'no' }))).toBeNull();
  expect(await east.invoke(quoddy.findUser({ user: 'unknown' }))).toBeNull();
});

test('followed → listed from both ends', async () => {
  await using sites = twoSites(service);
  const { east } = sites;
  await east.invoke(quoddy.addToFollow({ user: 'ann', other: 'bob' }));
  await east.invoke(quoddy.addToFollow({ user: 'cid', other: 'bob' }));
  expect(users(await east.invoke(quoddy.listFollowed({ user: 'ann' })))).toEqual(['bob']);
  expect(users(await east.invoke(quoddy.listFollowers({ user: 'bob' })))).toEqual(['ann', 'cid']);
});
