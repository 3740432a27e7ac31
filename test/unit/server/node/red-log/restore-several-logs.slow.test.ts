/** Restoring all red logs of a deployment at once. */
// @rule PART-G11, PART-G11a, PART-G12, PART-M18
import { expect, test } from 'vitest';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  type StoredGeneration,
} from '../../../../../src/server/node/red-log/red-generation.ts';
import { READ_NAMED } from '../../../../../src/server/node/red-log/named-entries.ts';
import type { LostHold } from '../../../../../src/server/service/records/records.ts';
import {
  restoreRedLog,
  type RestoredLog,
  type RestoreTargets,
} from '../../../../../src/server/node/commands/restore-red-log.ts';
import { FollowerNode, requestOf } from './follower-node.ts';

const FIRST: StoredGeneration = {
  generation: 0,
  leader: 'ireland',
  logs: [{ name: 'us', leader: 'virginia' }],
};
const VOTERS = ['ireland', 'frankfurt', 'virginia'];

/** Sites with as many entries of the logs of `main` and `us`. */
class SomeSites {
  readonly nodes: Readonly<Record<string, FollowerNode>>;
  readonly requests: string[] = [];
  /** A request that fails, once. */
  failing: string | undefined;

  constructor(lengths: Readonly<Record<string, readonly [main: number, us: number]>>) {
    this.nodes = Object.fromEntries(
      Object.entries(lengths).map(([site, all]) => [site, new FollowerNode(all, FIRST)]),
    );
  }

  async begin(): Promise<this> {
    for (const node of Object.values(this.nodes)) await node.follower.begin();
    return this;
  }

  async restore(
    sites: readonly string[],
    us: Partial<RestoreTargets> = {},
    main: Partial<RestoreTargets> = {},
  ): Promise<RestoredLog> {
    const send = requestOf(this.nodes);
    return restoreRedLog({
      request: async (site, kind, body) => {
        const text = `${kind} ${site}`;
        this.requests.push(text);
        if (text === this.failing) {
          this.failing = undefined;
          throw new Error(`${site} cannot be reached`);
        }
        return send(site, kind, body);
      },
      sites,
      voters: [VOTERS],
      leader: undefined,
      fileLeader: 'ireland',
      partitions: [
        { name: 'us', voters: [VOTERS], leader: undefined, fileLeader: 'virginia', ...us },
      ],
      ...main,
    });
  }
}

test('all logs get one generation, and each one is opened at its leader', async () => {
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [10, 6],
    virginia: [9, 6],
  }).begin();
  const restored = await sites.restore(VOTERS);
  expect(restored).toEqual({
    generation: 1,
    leader: 'ireland',
    length: 10,
    losing: [],
    late: [],
    logs: [{ name: 'us', leader: 'virginia', length: 6, losing: [] }],
  });
  const opened = {
    generation: 1,
    leader: 'ireland',
    base: { copy: 0, length: 10 },
    logs: [{ name: 'us', leader: 'virginia', base: { copy: 0, length: 6 } }],
    copy: 1,
  };
  for (const { stored, caughtUp, isRunning } of Object.values(sites.nodes))
    expect([stored, caughtUp, isRunning]).toEqual([opened, [], true]);
  // The leaders are the first that open it.
  expect(sites.requests.slice(-3)).toEqual([
    `${OPEN_RED} ireland`,
    `${OPEN_RED} virginia`,
    `${OPEN_RED} frankfurt`,
  ]);
});

test('the leader of a log is lost → that log goes on at the site with most of it, the others at their leaders', async () => {
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [9, 6],
    virginia: [9, 6],
  }).begin();
  const restored = await sites.restore(['ireland', 'frankfurt']);
  expect(restored).toMatchObject({
    leader: 'ireland',
    logs: [{ name: 'us', leader: 'frankfurt', length: 6 }],
  });
  const { ireland, frankfurt } = sites.nodes;
  expect([ireland?.caughtUp, frankfurt?.caughtUp]).toEqual([[], []]);
});

test('a site has no vote in its own copy of a log yet → the others may have confirmed what it lacks', async () => {
  const sites = await new SomeSites({ ireland: [10, 5], frankfurt: [10, 5] }).begin();
  const { frankfurt } = sites.nodes;
  const restore = async (losses: Partial<RestoreTargets> = {}): Promise<RestoredLog> =>
    sites.restore(
      ['frankfurt'],
      { voters: [['ireland', 'frankfurt']], ...losses },
      { voters: [['frankfurt']] },
    );
  frankfurt!.withoutVote = [1];
  const refusal = 'confirmed records of the red log of us may be lost';
  await expect(restore()).rejects.toThrow(refusal);

  // A site that is sealed does not run, and still says so.
  sites.failing = `${SEAL_RED} frankfurt`;
  await expect(restore({ acceptsLoss: true })).rejects.toThrow('frankfurt cannot be reached');
  await frankfurt!.answer(SEAL_RED, { generation: 1, leader: null });
  await expect(restore()).rejects.toThrow(refusal);
  expect(await restore({ acceptsLoss: true })).toMatchObject({
    logs: [{ leader: 'frankfurt', losing: ['ireland'] }],
  });
});

test('only a voter of a log leads it: what another site has beyond the voters was not confirmed', async () => {
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [9, 6],
    virginia: [9, 6],
  }).begin();
  const voters = [['ireland', 'virginia']];
  const restored = await sites.restore(['ireland', 'frankfurt'], { voters });
  expect(restored).toMatchObject({ logs: [{ leader: 'ireland', length: 5 }] });
});

test('a site that is named for a log, and has less of it, is refused with the name of the log', async () => {
  const sites = await new SomeSites({ ireland: [10, 5], frankfurt: [10, 6] }).begin();
  await expect(sites.restore(['ireland', 'frankfurt'], { leader: 'ireland' })).rejects.toThrow(
    'frankfurt has 6 entries of the red log of us, and ireland has 5: the first must lead',
  );
  const named = await sites.restore(
    ['ireland', 'frankfurt'],
    { leader: 'frankfurt' },
    { leader: 'frankfurt' },
  );
  expect(named).toMatchObject({ leader: 'frankfurt', logs: [{ leader: 'frankfurt' }] });
});

test('a generation that only one leader has opened → its shorter copies of other logs count as before', async () => {
  const sites = await new SomeSites({
    ireland: [10, 4],
    frankfurt: [9, 4],
    virginia: [9, 6],
  }).begin();
  sites.failing = `${OPEN_RED} virginia`;
  await expect(sites.restore(VOTERS)).rejects.toThrow('virginia cannot be reached');
  expect(sites.nodes['ireland']?.stored).toMatchObject({ generation: 1, copy: 1 });

  const restored = await sites.restore(VOTERS);
  expect(restored).toMatchObject({
    generation: 2,
    leader: 'ireland',
    logs: [{ leader: 'virginia', length: 6 }],
  });
  for (const { caughtUp, stored } of Object.values(sites.nodes))
    expect([caughtUp, stored.copy]).toEqual([[], 2]);
});

test('a sealed site that is started again knows with what its logs had begun', async () => {
  const sites = await new SomeSites({
    ireland: [10, 4],
    frankfurt: [9, 4],
    virginia: [9, 6],
  }).begin();
  await sites.restore(VOTERS);
  const { ireland, virginia } = sites.nodes as Record<'ireland' | 'virginia', FollowerNode>;
  await ireland.answer(SEAL_RED, { generation: 2, leader: null });
  ireland.restart();
  expect(ireland.stored).toMatchObject({
    generation: 2,
    leader: null,
    copy: 1,
    begins: [{ length: 10 }, { length: 6 }],
  });
  void ireland.follower.begin();
  expect(await sites.restore(VOTERS)).toMatchObject({
    generation: 3,
    logs: [{ leader: 'virginia', length: 6 }],
  });
  expect([ireland.caughtUp, virginia.caughtUp]).toEqual([[], []]);
});

test('a copy of any log that is no prefix → the site takes the state of another one', async () => {
  const sites = await new SomeSites({
    ireland: [10, 6],
    frankfurt: [10, 6],
    virginia: [10, 7],
  }).begin();
  await sites.restore(['ireland', 'frankfurt']);
  const { frankfurt, virginia } = sites.nodes as Record<'frankfurt' | 'virginia', FollowerNode>;
  virginia.stored = { ...virginia.stored, generation: 1, leader: null, copy: 0 };
  virginia.restart();
  virginia.peers = { frankfurt: frankfurt.follower.red };
  await virginia.follower.begin();
  expect(virginia.caughtUp).toHaveLength(1);
  expect(virginia.stored).toEqual(frankfurt.stored);
});

test.each([
  // [voters of us, sites, the sites that can have confirmed more]
  [['virginia', 'ireland'], ['ireland', 'frankfurt'], undefined],
  [['virginia', 'ohio', 'ireland'], ['ireland', 'frankfurt', 'ohio'], undefined],
  [['virginia', 'ohio', 'ireland'], ['ireland', 'frankfurt'], 'virginia, ohio'],
  [['virginia', 'ohio'], ['ireland', 'frankfurt'], 'virginia, ohio'],
])(
  'voters of us are %j, and %j run → %s can have confirmed more',
  async (voters, running, losing) => {
    const all = ['ireland', 'frankfurt', 'virginia', 'ohio', 'tokyo'];
    const sites = await new SomeSites(
      Object.fromEntries(all.map((site) => [site, [10, 6] as const])),
    ).begin();
    const main = { voters: [['ireland', 'frankfurt', 'virginia']] };
    const restored = sites.restore(running, { voters: [voters] }, main);
    if (losing === undefined) return expect(await restored).toMatchObject({ generation: 1 });

    await expect(restored).rejects.toThrow(
      `so ${losing} can have confirmed what ireland, frankfurt lack`,
    );
    await expect(restored).rejects.toThrow(
      new RegExp(
        `^confirmed records of the red log of us .*${voters.length} voters of that log .${voters.join(', ')}.`,
      ),
    );
    await expect(restored).rejects.toThrow(/Nothing was changed.*--accept-loss us/);
    expect(sites.requests.every((text) => text.startsWith(READ_RED))).toBe(true);
    // To accept the loss of main is no help.
    const accepting = sites.restore(running, { voters: [voters] }, { ...main, acceptsLoss: true });
    await expect(accepting).rejects.toThrow('of the red log of us');
  },
);

test('a loss is accepted for us → that log alone begins with an opening, from what all sealed sites have', async () => {
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [10, 6],
    tokyo: [10, 4],
  }).begin();
  const hold = (id: string, stamp: number): LostHold => ({
    operation: { id, site: 1, epoch: 1, attempt: 1 } as unknown as LostHold['operation'],
    stamp,
  });
  const { ireland, frankfurt } = sites.nodes as Record<'ireland' | 'frankfurt', FollowerNode>;
  ireland.named = [
    { stamp: 99, holds: [] },
    { stamp: 7, holds: [hold('a/1', 7)] },
  ];
  frankfurt.named = [
    { stamp: 99, holds: [] },
    { stamp: 8, holds: [hold('a/1', 7), hold('b/1', 8)] },
  ];
  const main = { voters: [['ireland', 'frankfurt', 'tokyo']] };
  const us = { voters: [['virginia', 'ohio', 'ireland']], acceptsLoss: true };
  const restored = await sites.restore(['ireland', 'frankfurt', 'tokyo'], us, main);
  // A site without a vote may be the only one that has what the lost sites confirmed.
  expect(restored).toMatchObject({
    leader: 'ireland',
    losing: [],
    logs: [{ name: 'us', leader: 'frankfurt', length: 6, losing: ['virginia', 'ohio'] }],
  });
  const opening = { stamp: 8, holds: [hold('a/1', 7), hold('b/1', 8)] };
  const base = { copy: 0, length: 6 };
  for (const { stored } of Object.values(sites.nodes)) {
    expect(stored.logs).toEqual([{ name: 'us', leader: 'frankfurt', base, opening }]);
    expect(stored).not.toHaveProperty('opening');
  }
  const asked = sites.requests.filter((text) => text.startsWith(READ_NAMED));
  expect(asked).toEqual([
    `${READ_NAMED} ireland`,
    `${READ_NAMED} frankfurt`,
    `${READ_NAMED} tokyo`,
  ]);
});

test('a site that is not sealed does not say what it has, since more may come', async () => {
  const sites = await new SomeSites({ ireland: [10, 5] }).begin();
  await expect(sites.nodes['ireland']?.answer(READ_NAMED, { partition: 1 })).rejects.toThrow(
    'it is not sealed',
  );
});

test('a cluster file with other partitions than the sites have is refused, also if the sites are sealed', async () => {
  const sites = await new SomeSites({ ireland: [10, 5], frankfurt: [10, 6] }).begin();
  const restore = (): Promise<RestoredLog> =>
    sites.restore(['ireland', 'frankfurt'], {}, { partitions: [] });
  await expect(restore()).rejects.toThrow(
    'ireland has the partitions main, us, and the cluster file has main.',
  );
  expect(sites.nodes['ireland']?.isRunning).toBe(true);
  for (const node of Object.values(sites.nodes))
    await node.answer(SEAL_RED, { generation: 1, leader: null });
  await expect(restore()).rejects.toThrow(
    'ireland has 2 red logs, and the cluster file has 1. No log was opened.',
  );
  expect(await sites.restore(['ireland', 'frankfurt'])).toMatchObject({ generation: 3 });
});

test('all named voters of us are lost → all open sites are its voters, in later generations and while sealed too', async () => {
  const all = ['ireland', 'frankfurt', 'tokyo'];
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [10, 6],
    tokyo: [10, 4],
  }).begin();
  const main = { voters: [all] };
  const us = {
    voters: [[...all, 'virginia', 'ohio']],
    namedVoters: ['virginia', 'ohio'],
    acceptsLoss: true,
  };
  const restored = await sites.restore(all, us, main);
  const lossy = {
    name: 'us',
    leader: 'frankfurt',
    length: 6,
    losing: ['virginia', 'ohio'],
    isVotedByAll: true,
  };
  expect(restored.logs).toEqual([lossy]);
  for (const { stored } of Object.values(sites.nodes)) expect(stored.votedByAll).toEqual(['us']);

  // The others have retired the lost sites. A site with the name of one has joined, and its vote
  // alone is not enough.
  const joined = { ...us, voters: [[...all, 'virginia']], acceptsLoss: false };
  for (const node of Object.values(sites.nodes))
    await node.answer(SEAL_RED, { generation: 2, leader: null });
  for (const { stored } of Object.values(sites.nodes))
    expect(stored).toMatchObject({ leader: null, votedByAll: ['us'] });
  const [ireland, frankfurt, tokyo] = all as [string, string, string];
  await expect(sites.restore([ireland], joined, { ...main, acceptsLoss: true })).rejects.toThrow(
    '3 of the 4 voters of that log',
  );
  const again = await sites.restore([ireland, frankfurt, tokyo], joined, main);
  expect(again).toMatchObject({ generation: 3, logs: [{ losing: [], isVotedByAll: true }] });
  for (const { stored } of Object.values(sites.nodes)) expect(stored.votedByAll).toEqual(['us']);
});

test('a named voter of us is left → it stays one of the few voters after a loss', async () => {
  const all = ['ireland', 'frankfurt', 'tokyo'];
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [10, 6],
    tokyo: [10, 4],
  }).begin();
  const us = {
    voters: [[...all, 'virginia', 'ohio']],
    namedVoters: ['virginia', 'ohio', 'tokyo'],
    acceptsLoss: true,
  };
  const { logs } = await sites.restore(all, us, { voters: [all] });
  expect(logs).toEqual([
    { name: 'us', leader: 'frankfurt', length: 6, losing: ['virginia', 'ohio'] },
  ]);
  for (const { stored } of Object.values(sites.nodes))
    expect(stored).not.toHaveProperty('votedByAll');
});

test('a site without a vote may be named as the leader of us after a loss alone', async () => {
  const all = ['ireland', 'frankfurt', 'tokyo'];
  const sites = await new SomeSites({
    ireland: [10, 5],
    frankfurt: [10, 6],
    tokyo: [10, 4],
  }).begin();
  const us = { voters: [[...all, 'virginia', 'ohio']], leader: 'frankfurt', acceptsLoss: true };
  const named = { ...us, namedVoters: ['ireland', 'tokyo', 'virginia'] };
  await expect(sites.restore(all, named, { voters: [all] })).rejects.toThrow(
    'frankfurt cannot lead the red log of us: name one of its voters ireland, tokyo, virginia. Nothing was changed',
  );
  expect(sites.requests.every((text) => text.startsWith(READ_RED))).toBe(true);
  const lost = { ...us, namedVoters: ['tokyo', 'virginia', 'ohio'] };
  expect(await sites.restore(all, lost, { voters: [all] })).toMatchObject({
    logs: [{ leader: 'frankfurt' }],
  });
});
