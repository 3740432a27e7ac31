/**
 * A site that has lost its past, in a deployment whose other sites have theirs: no start, and what
 * to do.
 */
// @rule STO-18, STO-31
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../../../../src/index.ts';
import type { Client } from '../../../../../../src/index.ts';
import { enqueue, get, put } from '../../../../../../src/operations/index.ts';
import { openEmbedded } from '../../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../../src/server/node/embedded/embedded.ts';
import type { RedBlueLevels } from '../../../../../../src/protocol/redblue-levels.ts';
import { inspectDataDirectory } from '../../../../../../src/server/node/commands/inspect-directory.ts';
import { describeMissingHistory } from '../../../../../../src/server/node/storage/directory/missing-history.ts';
import type {
  HeldEntries,
  Holding,
} from '../../../../../../src/server/node/storage/directory/missing-history.ts';
import { notesService } from '../notes-service.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
let dataDir: string;
beforeEach(() => void (dataDir = temporaryFolder()));

const start = (): Promise<Embedded> =>
  openEmbedded(notesService(), { sites: SITES, dataDir, onAlarm: () => {} });
const folderOf = (site: string): string => join(dataDir, 'sites', site);

/** Both colors, from a site, and seen by all. */
async function work(embedded: Embedded, site: string, value: string): Promise<void> {
  const client = createClient(embedded.site(site));
  await client.invoke(put('k', value));
  await client.invokeStrong(enqueue('q', value));
  for (const other of SITES) {
    const reader = createClient(embedded.site(other));
    await expect.poll(() => reader.invokeWeak(get('k'))).toBe(value);
    await reader.invokeStrong(get('k'));
  }
}

/** One start in which ireland alone makes something, and the others come to have it. */
async function workAtIrl(color: 'blue' | 'red', round: number): Promise<void> {
  const embedded = await start();
  const clients = SITES.map((site) => createClient(embedded.site(site)));
  const [ireland] = clients as [Client<RedBlueLevels>];
  if (color === 'blue') await ireland.invoke(put('k', round));
  else await ireland.invokeStrong(enqueue('q', `item ${round}`));
  for (const client of clients) {
    if (color === 'blue') await expect.poll(() => client.invokeWeak(get('k'))).toBe(round);
    // Until then others have confirmed that they have it on disk, too: else each keeps it, however
    // often it starts.
    await client.invokeStrong(get('k'));
  }
  await embedded.close();
}

/** The engine of the rows replaces its own files whenever it is opened. */
const filesIn = (folder: string): string[] =>
  readdirSync(join(dataDir, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('/rows'))
    .toSorted();

const rejection = (description: RegExp): unknown =>
  expect.objectContaining({
    code: 'UNAVAILABLE',
    retryable: false,
    message: expect.stringMatching(description),
  });

describe('a deployment', () => {
  test.each(['ireland', 'virginia'])(
    'the directory of %s is gone → the start fails, nothing is created, and the error explains how to continue',
    async (lost) => {
      const first = await start();
      for (const site of SITES) await work(first, site, `of ${site}`);
      await first.close();
      rmSync(folderOf(lost), { recursive: true });
      const advice = `nothing in sites/${lost}, and .* Put back what is gone, .* Do not remove the directory of a single site`;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(start()).rejects.toThrow(rejection(new RegExp(advice)));
        expect(readdirSync(join(dataDir, 'sites'))).not.toContain(lost);
        await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
      }
    },
  );

  test.each(['ireland', 'virginia'])(
    'the directory of %s as it was before → no start',
    async (old) => {
      const first = await start();
      await work(first, 'frankfurt', 'first');
      await first.close();
      const backup = join(dataDir, 'backup');
      cpSync(folderOf(old), backup, { recursive: true });
      const second = await start();
      for (const site of SITES) await work(second, site, `of ${site}`);
      await second.close();
      rmSync(folderOf(old), { recursive: true });
      cpSync(backup, folderOf(old), { recursive: true });
      await expect(start()).rejects.toThrow(
        rejection(/site \w+ has \d+ (operations of|entries of the red log)/),
      );
    },
  );

  test.each([
    ['blue', /site frankfurt has 1 operations of ireland, and ireland keeps those from \d+ on/],
    [
      'red',
      /site frankfurt has \d+ entries of the red log, and ireland, which leads it, keeps those from \d+ on/,
    ],
  ] as const)(
    'a site that made nothing, its directory as it was before the others let go of %s entries → no start',
    { timeout: 240_000 },
    async (color, description) => {
      await workAtIrl(color, 1);
      const backup = join(dataDir, 'backup');
      cpSync(folderOf('frankfurt'), backup, { recursive: true });
      const [first] = readdirSync(folderOf('ireland')).filter((name) => name.endsWith('.log'));
      for (let round = 2; existsSync(join(folderOf('ireland'), String(first))); round += 1)
        await workAtIrl(color, round);
      rmSync(folderOf('frankfurt'), { recursive: true });
      cpSync(backup, folderOf('frankfurt'), { recursive: true });
      const before = filesIn('sites');
      await expect(start()).rejects.toThrow(rejection(description));
      await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
      expect(filesIn('sites')).toEqual(before);
      expect((await inspectDataDirectory(dataDir)).startError).toMatch(description);
    },
  );

  test('the directories of two sites exchanged → the start fails, nothing is created, and the error names both', async () => {
    const first = await start();
    for (const site of SITES) await work(first, site, `of ${site}`);
    await first.close();
    const exchange = (): void => {
      renameSync(folderOf('ireland'), folderOf('between'));
      renameSync(folderOf('virginia'), folderOf('ireland'));
      renameSync(folderOf('between'), folderOf('virginia'));
    };
    exchange();
    const before = filesIn('sites');
    const description =
      /sites\/ireland\/\d+\.log is a file of site 'virginia', and not of 'ireland'/;
    await expect(start()).rejects.toThrow(rejection(description));
    await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
    expect(filesIn('sites')).toEqual(before);
    expect((await inspectDataDirectory(dataDir)).sites[0]?.startError).toMatch(description);
    exchange();
    await (await start()).close();
  });

  test('a first start that was killed before all sites had a file → starts', async () => {
    await (await start()).close();
    rmSync(folderOf('virginia'), { recursive: true });
    await (await start()).close();
  });
});

describe('what others have of a site', () => {
  const names = ['a', 'b', 'c'];
  const retained = (count: number, retainedFrom = 1): HeldEntries => ({ count, retainedFrom });
  /** As much as everybody has, and all of it kept. */
  const all = (): Record<'red', HeldEntries> & { streams: HeldEntries[] } => ({
    streams: [retained(3), retained(2), retained(9)],
    red: retained(5),
  });

  test.each<
    [
      string,
      number,
      (of: ReturnType<typeof all>) => void,
      (of: ReturnType<typeof all>) => void,
      RegExp?,
    ]
  >([
    ['as much', 1, () => {}, () => {}],
    [
      'more of its stream',
      1,
      (a) => (a.streams[1] = retained(4)),
      () => {},
      /^site a has 4 operations of b, which has 2/,
    ],
    [
      'more of the red log that it leads',
      0,
      () => {},
      (b) => (b.red = retained(6)),
      /site b has 6 .* leads it, has 5$/,
    ],
    [
      'less',
      0,
      () => {},
      (b) =>
        Object.assign(b, { streams: [retained(1), retained(2), retained(0)], red: retained(0) }),
    ],
    ['more of theirs, and can send that', 1, (a) => (a.streams[0] = retained(7, 4)), () => {}],
    [
      'more of theirs, and cannot send all',
      1,
      (a) => (a.streams[0] = retained(7, 5)),
      () => {},
      /^site b has 3 operations of a, and a keeps those from 5 on$/,
    ],
    [
      'more of a third, and cannot',
      1,
      (a) => (a.streams[2] = retained(11, 12)),
      () => {},
      /b has 9 operations of c, and a /,
    ],
    ['more of the red log, and sends that', 1, (a) => (a.red = retained(9, 6)), () => {}],
    [
      'more of the red log, and cannot',
      1,
      (a) => (a.red = retained(9, 7)),
      () => {},
      /b has 5 entries of .* from 7 on$/,
    ],
    [
      'no more, and keeps nothing',
      1,
      (a) => Object.assign(a, { streams: [retained(3, 4)], red: retained(5, 6) }),
      () => {},
    ],
  ])('%s → %#', (_, site, changeA, changeB, problem) => {
    const holdings = [all(), all(), all()];
    changeA(holdings[0] as ReturnType<typeof all>);
    changeB(holdings[1] as ReturnType<typeof all>);
    const found = describeMissingHistory(site, holdings[site] as Holding, holdings, names, [
      { site: 0 },
    ]);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(problem);
  });
});
