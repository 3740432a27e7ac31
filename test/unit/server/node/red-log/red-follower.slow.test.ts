/** A node that follows the generations of the red log, whatever happens to it meanwhile. */
// @rule CLU-G1a, CLU-G1c, CLU-G1d, CLU-G2, CLU-G5, CLU-G6, CLU-G7
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
} from '../../../../../src/server/node/red-log/red-generation.ts';
import {
  restoreRedLog,
  type RestoredLog,
} from '../../../../../src/server/node/commands/restore-red-log.ts';
import { FollowerNode, requestOf } from './follower-node.ts';

test('a site that is sealed before it has begun is started once', async () => {
  const node = new FollowerNode(3, { generation: 1, leader: null });
  const begun = node.follower.begin();
  await node.answer(SEAL_RED, { generation: 2, leader: null });
  await node.answer(OPEN_RED, { generation: 2, leader: 'virginia', base: { copy: 0, length: 3 } });
  await begun;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(node.starts).toBe(1);
});

test('a site that is sealed before its first start waits for that', async () => {
  const node = new FollowerNode(3);
  await node.answer(SEAL_RED, { generation: 1, leader: null });
  await node.answer(OPEN_RED, { generation: 1, leader: 'virginia', base: { copy: 0, length: 3 } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(node.starts).toBe(0);
  await node.follower.begin();
  expect(node.starts).toBe(1);
});

test('a site that is being stopped for a seal takes no state meanwhile, and is started once', async () => {
  const node = new FollowerNode(3);
  await node.follower.begin();
  let drain = (): void => {};
  node.whenDrained = new Promise((resolve) => (drain = resolve));
  const sealed = node.answer(SEAL_RED, { generation: 1, leader: null });
  await vi.waitFor(() => expect(node.stops).toBe(1));
  expect(node.follower.isSealing).toBe(true);
  node.peers = { frankfurt: { generation: 1, leader: 'virginia', base: { copy: 0, length: 9 } } };
  node.follower.askAll();
  await new Promise((resolve) => setTimeout(resolve, 10));
  drain();
  await sealed;
  await vi.waitFor(() => expect(node.starts).toBe(2));
  expect(node.caughtUp).toEqual([]);
  expect(node.follower.isSealing).toBe(false);
});

test('an old leader that is killed while it takes the state takes it again before it starts', async () => {
  const node = new FollowerNode(9);
  await node.follower.begin();
  node.peers = { virginia: { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 } } };
  node.isKilledInTransfer = true;
  node.follower.onConnected('virginia');
  await expect.poll(() => node.caughtUp.length).toBe(1);
  node.isKilledInTransfer = false;
  node.restart();
  node.starts = 0;
  await node.follower.begin();
  expect([node.starts, node.caughtUp.length, node.stored]).toEqual([
    1,
    2,
    { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 }, copy: 1 },
  ]);
});

test.each([
  [7, 0],
  [8, 1],
])(
  'a site with %i entries that was sealed for an attempt which failed → %i states taken',
  async (length, states) => {
    const node = new FollowerNode(length, { generation: 1, leader: null, copy: 0 });
    node.peers = { virginia: { generation: 2, leader: 'virginia', base: { copy: 0, length: 7 } } };
    await node.follower.begin();
    expect([node.caughtUp.length, node.starts, node.stored.copy]).toEqual([states, 1, 2]);
  },
);

test('the copy of the latest generation leads, however long one of an earlier generation is', async () => {
  const frankfurt = new FollowerNode(12, { generation: 1, leader: 'virginia', copy: 1 });
  const ireland = new FollowerNode(15);
  const nodes = { ireland, frankfurt };
  for (const node of Object.values(nodes)) await node.follower.begin();
  await expect(
    restoreRedLog({
      request: requestOf(nodes),
      sites: ['ireland', 'frankfurt'],
      leader: 'ireland',
      voters: [],
    }),
  ).rejects.toThrow(
    'frankfurt has 12 entries of the red log of generation 1, and ireland has 15 of generation 0',
  );
  const opened = await restoreRedLog({
    request: requestOf(nodes),
    sites: ['ireland', 'frankfurt'],
    leader: undefined,
    voters: [],
  });
  expect(opened).toMatchObject({ generation: 3, leader: 'frankfurt', length: 12 });
  await expect.poll(() => [ireland.isRunning, frankfurt.isRunning]).toEqual([true, true]);
  expect([ireland.caughtUp.length, frankfurt.caughtUp.length]).toEqual([1, 0]);
});

test('a copy that lacks a part of what its generation began with counts as one of the generation before (CLU-G3)', async () => {
  const base = { copy: 0, length: 9 };
  const frankfurt = new FollowerNode(5, { generation: 1, leader: 'virginia', base, copy: 1 });
  // It was sealed for generation 1, and did not hear that virginia has opened it.
  const ireland = new FollowerNode(9, { generation: 1, leader: null, copy: 0 });
  const nodes = { frankfurt, ireland };
  const beginning = Object.values(nodes).map((node) => node.follower.begin());
  const restored = await restoreRedLog({
    request: requestOf(nodes),
    sites: Object.keys(nodes),
    leader: undefined,
    voters: [['frankfurt', 'ireland', 'virginia']],
  });
  expect(restored).toMatchObject({ generation: 2, leader: 'ireland', length: 9, losing: [] });
  await Promise.all(beginning);
  expect([frankfurt.caughtUp, ireland.caughtUp]).toEqual([[], []]);
});

test('a site that starts on a node.json without what its copy began with counts as before', async () => {
  const frankfurt = new FollowerNode(5, { generation: 2, leader: null, copy: 1 });
  const virginia = new FollowerNode(7, {
    generation: 1,
    leader: 'virginia',
    base: { copy: 0, length: 7 },
  });
  const nodes = { frankfurt, virginia };
  const beginning = Object.values(nodes).map((node) => node.follower.begin());
  const voters = [Object.keys(nodes)];
  const restored = await restoreRedLog({
    request: requestOf(nodes),
    sites: voters[0]!,
    leader: undefined,
    voters,
  });
  expect(restored).toMatchObject({ generation: 3, leader: 'frankfurt', length: 5 });
  await Promise.all(beginning);
});

test('a loss is accepted for the only log → it begins with an opening, from what all sealed sites have', async () => {
  const nodes = { frankfurt: new FollowerNode(7), virginia: new FollowerNode(9) };
  nodes.frankfurt.named = [{ stamp: 8, holds: [] }];
  for (const node of Object.values(nodes)) await node.follower.begin();
  const restored = await restoreRedLog({
    request: requestOf(nodes),
    sites: Object.keys(nodes),
    leader: undefined,
    voters: [['ireland', 'tokyo', 'ohio', ...Object.keys(nodes)]],
    acceptsLoss: true,
  });
  expect(restored).toMatchObject({ leader: 'virginia', losing: ['ireland', 'tokyo', 'ohio'] });
  const opened = {
    leader: 'virginia',
    base: { copy: 0, length: 9 },
    opening: { stamp: 8, holds: [] },
  };
  for (const { stored } of Object.values(nodes)) expect(stored).toMatchObject(opened);
});

test('two operators at once: no two sites follow different leaders of one generation', async () => {
  const nodes = { frankfurt: new FollowerNode(7), virginia: new FollowerNode(7) };
  for (const node of Object.values(nodes)) await node.follower.begin();
  const restore = (
    leader: 'frankfurt' | 'virginia',
    sites: readonly string[],
  ): Promise<RestoredLog> =>
    restoreRedLog({ request: requestOf(nodes), sites, leader, voters: [] });
  await Promise.allSettled([
    restore('frankfurt', ['frankfurt', 'virginia']),
    restore('virginia', ['virginia', 'frankfurt']),
  ]);
  const [a, b] = [nodes.frankfurt.follower.red, nodes.virginia.follower.red];
  const areTwo =
    a.generation === b.generation &&
    a.leader !== null &&
    b.leader !== null &&
    a.leader !== b.leader;
  expect(areTwo).toBe(false);
  expect(await restore('virginia', ['frankfurt', 'virginia'])).toMatchObject({
    leader: 'virginia',
  });
  expect(nodes.frankfurt.follower.red).toEqual(nodes.virginia.follower.red);
});

test('a site that takes a state is not sealed, and no other site is then', async () => {
  const nodes = { frankfurt: new FollowerNode(7), virginia: new FollowerNode(7) };
  for (const node of Object.values(nodes)) await node.follower.begin();
  nodes.virginia.isTransferring = true;
  const restored = restoreRedLog({
    request: requestOf(nodes),
    sites: ['frankfurt', 'virginia'],
    leader: undefined,
    voters: [],
  });
  await expect(restored).rejects.toThrow('virginia is taking the state of another site');
  expect(nodes.frankfurt.isRunning).toBe(true);
});

test.each([
  [7, undefined],
  [8, 'virginia has more entries of the red log'],
])('one of three sites takes a state, and has %i of 7 entries → %s', async (length, problem) => {
  const nodes = {
    ireland: new FollowerNode(7),
    frankfurt: new FollowerNode(7),
    virginia: new FollowerNode(length),
  };
  for (const node of Object.values(nodes)) await node.follower.begin();
  nodes.virginia.isTransferring = true;
  const restored = restoreRedLog({
    request: requestOf(nodes),
    sites: Object.keys(nodes),
    leader: undefined,
    voters: [],
  });
  if (problem === undefined) expect(await restored).toMatchObject({ generation: 1 });
  else await expect(restored).rejects.toThrow(problem);
});

test('a sealed site that cannot start reports it', async () => {
  const node = new FollowerNode(7);
  await node.follower.begin();
  await node.answer(SEAL_RED, { generation: 1, leader: null });
  node.startError = new Error('the disk is full');
  const open = { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 } };
  await expect(node.answer(OPEN_RED, open)).rejects.toThrow('the disk is full');
  expect(node.failures).toEqual(['the disk is full']);
});

test(`${READ_RED} is asked again while a link stays up`, async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const node = new FollowerNode(7);
  await node.follower.begin();
  node.peers = { virginia: { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 } } };
  await vi.advanceTimersByTimeAsync(8000);
  expect(node.caughtUp).toHaveLength(1);
});

test('a site whose disk is full is not sealed, nor is any other one, and goes on', async () => {
  const nodes = { frankfurt: new FollowerNode(7), virginia: new FollowerNode(7) };
  for (const node of Object.values(nodes)) await node.follower.begin();
  nodes.frankfurt.diskError = new Error('ENOSPC: no space left on device');
  const restore = (): Promise<RestoredLog> =>
    restoreRedLog({
      request: requestOf(nodes),
      sites: Object.keys(nodes),
      leader: undefined,
      voters: [],
    });
  await expect(restore()).rejects.toThrow(
    /^frankfurt cannot be sealed: .*ENOSPC.*Nothing was changed/,
  );
  for (const node of Object.values(nodes))
    expect([node.isRunning, node.stops, node.follower.red.leader]).toEqual([true, 0, 'ireland']);
  nodes.frankfurt.diskError = undefined;
  expect(await restore()).toMatchObject({ generation: 1 });
});

test('a site whose disk becomes full before it is sealed goes on under the old generation', async () => {
  const node = new FollowerNode(7);
  await node.follower.begin();
  node.diskError = new Error('ENOSPC: no space left on device');
  await expect(node.answer(SEAL_RED, { generation: 1, leader: null })).rejects.toThrow('ENOSPC');
  expect([node.isRunning, node.follower.red]).toEqual([true, { generation: 0, leader: 'ireland' }]);
});

test('a sealed site keeps the room to start again, says so at once, and raises an alarm if it lasts', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const node = new FollowerNode(7);
  await node.follower.begin();
  await node.answer(SEAL_RED, { generation: 1, leader: null });
  expect([node.hasReserved, node.isRunning]).toEqual([true, false]);
  expect(node.follower.sealedProblem).toMatch(
    /sealed for generation 1.*repeat cluster restore-red$/,
  );
  await vi.advanceTimersByTimeAsync(8000);
  expect(node.sealed).toEqual([
    `log: ${node.follower.sealedProblem}`,
    `alarm: ${node.follower.sealedProblem}`,
  ]);
  await node.answer(OPEN_RED, { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 } });
  expect([node.hasReserved, node.isRunning, node.follower.sealedProblem]).toEqual([
    false,
    true,
    undefined,
  ]);
});

test('a site that fails while it is stopped for a seal goes on once the log is opened', async () => {
  const node = new FollowerNode(7);
  await node.follower.begin();
  node.whenDrained = Promise.reject(new Error('the port is taken'));
  await expect(node.answer(SEAL_RED, { generation: 1, leader: null })).rejects.toThrow(
    'the port is taken',
  );
  node.isRunning = false;
  await node.answer(OPEN_RED, { generation: 1, leader: 'virginia', base: { copy: 0, length: 7 } });
  expect([node.isRunning, node.starts]).toEqual([true, 2]);
});

test('a generation for which there is no room on the disk is not followed in memory either', async () => {
  const node = new FollowerNode(3);
  await node.follower.begin();
  node.diskError = new Error('ENOSPC');
  node.peers = { virginia: { generation: 1, leader: 'virginia', base: { copy: 0, length: 3 } } };
  await expect(
    Promise.resolve(node.answer(SEAL_RED, { generation: 1, leader: null })),
  ).rejects.toThrow('ENOSPC');
  node.follower.askAll();
  await new Promise(setImmediate);
  expect([node.follower.red, node.stored.generation, node.isRunning]).toEqual([
    { generation: 0, leader: 'ireland' },
    0,
    true,
  ]);
  node.diskError = undefined;
  node.follower.askAll();
  await vi.waitFor(() =>
    expect(node.follower.red).toMatchObject({ generation: 1, leader: 'virginia' }),
  );
  expect(node.stored).toMatchObject({ generation: 1, leader: 'virginia' });
});
