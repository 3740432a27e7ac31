/** Restoring a red log whose leader is lost. */
import { expect, test } from 'vitest';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  isSuperseded,
  restoreRedLog,
  type RedGeneration,
} from '../../../../../src/server/cluster/red-log/red-generation.ts';

/** Sites that record the messages they get, each with as many entries of the log. */
class SomeSites {
  readonly requests: string[] = [];
  readonly followed = new Map<string, RedGeneration>();
  readonly #lengths: Readonly<Record<string, number>>;
  /** Requests that fail, once. */
  failing: string[] = [];

  constructor(lengths: Readonly<Record<string, number>>) {
    this.#lengths = lengths;
    for (const site of Object.keys(lengths)) this.followed.set(site, { generation: 0, leader: 'ireland' });
  }

  readonly request = async (site: string, kind: string, body: unknown): Promise<unknown> => {
    const text = `${kind} ${site}`;
    if (this.failing.includes(text)) {
      this.failing = this.failing.filter((item) => item !== text);
      throw new Error(`${site} cannot be reached`);
    }
    this.requests.push(text);
    if (kind === READ_RED) return this.followed.get(site);
    const { generation, leader } = body as RedGeneration;
    this.followed.set(site, { generation, leader });
    return { generation, leader, length: this.#lengths[site], copy: 0 };
  };

  restore(leader?: string): Promise<RedGeneration> {
    return restoreRedLog({ request: this.request, sites: [...this.followed.keys()], leader });
  }
}

test('the site with the longest log leads the next generation, once all are sealed', async () => {
  const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
  expect(await sites.restore()).toEqual({ generation: 1, leader: 'virginia' });
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
  expect(await sites.restore('virginia')).toEqual({ generation: 2, leader: 'virginia' });
});

test.each([`${SEAL_RED} virginia`, `${OPEN_RED} frankfurt`, `${OPEN_RED} virginia`])(
  'a restoration that fails at %s is repeated',
  async (failing) => {
    const sites = new SomeSites({ frankfurt: 7, virginia: 9 });
    sites.failing = [failing];
    await expect(sites.restore()).rejects.toThrow('cannot be reached');
    const opened = await sites.restore();
    expect(opened.leader).toBe('virginia');
    expect([...sites.followed.values()]).toEqual([opened, opened]);
  },
);

test('a node follows a newer generation that is open, and the one that it was sealed for', () => {
  const old: RedGeneration = { generation: 0, leader: 'ireland' };
  const sealed: RedGeneration = { generation: 1, leader: null };
  const open: RedGeneration = { generation: 1, leader: 'virginia' };
  expect(isSuperseded(old, open)).toBe(true);
  expect(isSuperseded(sealed, open)).toBe(true);
  expect(isSuperseded(old, sealed)).toBe(false);
  expect(isSuperseded(open, old)).toBe(false);
  expect(isSuperseded(open, open)).toBe(false);
});
