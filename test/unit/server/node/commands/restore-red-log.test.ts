/** Restoring a red log whose leader is lost. */
// @rule CLU-G1, CLU-G1a, CLU-G3, CLU-G4
import { expect, test } from 'vitest';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  type RedGeneration,
} from '../../../../../src/server/node/red-log/red-generation.ts';
import { READ_NAMED } from '../../../../../src/server/node/red-log/named-entries.ts';
import {
  restoreRedLog,
  type RestoredLog,
  type RestoreTargets,
} from '../../../../../src/server/node/commands/restore-red-log.ts';

/** Sites that record the messages they get, each with as many entries of the log. */
class SomeSites {
  readonly requests: string[] = [];
  readonly followed = new Map<string, RedGeneration>();
  readonly #lengths: Readonly<Record<string, number>>;
  /** Requests that fail, once. */
  failing: string[] = [];

  constructor(lengths: Readonly<Record<string, number>>) {
    this.#lengths = lengths;
    for (const site of Object.keys(lengths))
      this.followed.set(site, { generation: 0, leader: 'ireland' });
  }

  readonly request = async (site: string, kind: string, body: unknown): Promise<unknown> => {
    const text = `${kind} ${site}`;
    if (this.failing.includes(text)) {
      this.failing = this.failing.filter((item) => item !== text);
      throw new Error(`${site} cannot be reached`);
    }
    this.requests.push(text);
    if (kind === READ_RED) return this.followed.get(site);
    if (kind === READ_NAMED) return { stamp: 0, holds: [] };
    const { generation, leader } = body as RedGeneration;
    this.followed.set(site, { generation, leader });
    return { generation, leader, length: this.#lengths[site], copy: 0 };
  };

  restore(leader?: string, more: Partial<RestoreTargets> = {}): Promise<RestoredLog> {
    const sites = [...this.followed.keys()];
    return restoreRedLog({ request: this.request, sites, leader, voters: [sites], ...more });
  }
}

test('the site with the longest log leads the next generation, once all are sealed', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  expect(await sites.restore()).toMatchObject({
    generation: 1,
    leader: 'virginia',
    length: 9,
    losing: [],
    late: [],
  });
  const kinds = sites.requests.map((text) => text.split(' ')[0]);
  expect(kinds).toEqual([READ_RED, READ_RED, SEAL_RED, SEAL_RED, OPEN_RED, OPEN_RED]);
  expect(sites.requests[4]).toBe(`${OPEN_RED} virginia`);
  const opened = { generation: 1, leader: 'virginia' };
  expect([...sites.followed.values()]).toEqual([opened, opened]);
});

test('a leader that lacks entries of another site is refused by the name of that site', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  await expect(sites.restore('frankfurt')).rejects.toThrow(
    'virginia has 9 entries of the red log, and frankfurt has 7',
  );
  expect(await sites.restore('virginia')).toMatchObject({ generation: 2, leader: 'virginia' });
});

test.each([`${SEAL_RED} virginia`, `${OPEN_RED} virginia`])(
  'a restoration that fails at %s is repeated',
  async (failing) => {
    const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
    sites.failing = [failing];
    await expect(sites.restore()).rejects.toThrow('cannot be reached');
    const { generation, leader } = await sites.restore();
    expect(leader).toBe('virginia');
    expect([...sites.followed.values()]).toEqual([
      { generation, leader },
      { generation, leader },
    ]);
  },
);

test('the error of a site that could not be sealed names those that are', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  sites.failing = [`${SEAL_RED} virginia`];
  await expect(sites.restore()).rejects.toThrow(
    /^virginia cannot be reached.*until this is repeated: frankfurt\.$/,
  );
});

test('a site that does not confirm the generation that its leader has opened is named, and does not fail it', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  sites.failing = [`${OPEN_RED} frankfurt`];
  expect(await sites.restore()).toMatchObject({
    leader: 'virginia',
    late: [{ site: 'frankfurt', problem: 'frankfurt cannot be reached' }],
  });
});

test.each([
  // [voters, sealed, whether no majority of the voters is without a sealed one]
  [1, 1, true],
  [2, 1, true],
  [3, 1, false],
  [3, 2, true],
  [4, 1, false],
  [4, 2, true],
  [5, 2, false],
  [5, 3, true],
])(
  'of %i voters %i are sealed → nothing that was confirmed can be lost: %s',
  async (count, sealed, isKept) => {
    const voters = Array.from({ length: count }, (_, place) => `site-${place}`);
    const sites = new SomeSites(
      Object.fromEntries(voters.slice(0, sealed).map((name) => [name, 7])),
    );
    const restored = sites.restore(undefined, { voters: [voters] });
    if (isKept) return expect(await restored).toMatchObject({ generation: 1, losing: [] });
    await expect(restored).rejects.toThrow(
      /^confirmed red records may be lost.*Nothing was changed.*--accept-loss/,
    );
    expect(sites.requests.every((text) => text.startsWith(READ_RED))).toBe(true);
    const losing = voters.slice(sealed);
    expect(await sites.restore(undefined, { voters: [voters], acceptsLoss: true })).toMatchObject({
      length: 7,
      losing,
    });
  },
);

test('a site that joins counts as a voter and as none: both must keep what was confirmed', async () => {
  const sites = new SomeSites({ frankfurt: 7 });
  const voters = [
    ['frankfurt', 'ireland'],
    ['frankfurt', 'ireland', 'virginia'],
  ];
  await expect(sites.restore(undefined, { voters })).rejects.toThrow(
    'ireland, virginia can have confirmed what frankfurt lacks',
  );
});

test('with etcd one site alone may have confirmed a record: all of them are sealed, or the loss is accepted', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  const lost = { voters: [['frankfurt', 'virginia', 'ireland']], isConfirmedByOne: true };
  await expect(sites.restore(undefined, lost)).rejects.toThrow(
    'once one site has it, so ireland can have confirmed',
  );
  expect(await sites.restore(undefined, { isConfirmedByOne: true })).toMatchObject({ losing: [] });
});
