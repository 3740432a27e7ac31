/** A site that has lost its past, in a deployment whose other sites have theirs: no start, and what to do. */
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import type { Client } from '../../../../../src/index.ts';
import { enqueue, get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded } from '../../../../../src/server/embedded.ts';
import type { Embedded } from '../../../../../src/server/embedded.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import { inspectDataFolder } from '../../../../../src/server/storage/folder/inspect.ts';
import { lostPast } from '../../../../../src/server/storage/folder/lost-past.ts';
import type { HeldOf, Holding } from '../../../../../src/server/storage/folder/lost-past.ts';
import { notesService } from '../notes-service.ts';

const SITES = ['irl', 'frk', 'vrg'] as const;
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'correctables-lost-'));
  return () => rmSync(dataDir, { recursive: true });
});

const start = (): Embedded => createEmbedded(notesService(), { sites: SITES, dataDir, onAlarm: () => {} });
const folderOf = (site: string): string => join(dataDir, 'sites', site);

/** Both colours, from a site, and seen by all. */
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

/** One start in which irl alone makes something, and the others come to have it. */
async function workAtIrl(color: 'blue' | 'red', round: number): Promise<void> {
  const embedded = start();
  const clients = SITES.map((site) => createClient(embedded.site(site)));
  const [irl] = clients as [Client<RedBlueLevels>];
  if (color === 'blue') await irl.invoke(put('k', round));
  else await irl.invokeStrong(enqueue('q', `item ${round}`));
  for (const client of clients) {
    if (color === 'blue') await expect.poll(() => client.invokeWeak(get('k'))).toBe(round);
    // Until then they have told that they have it on disk, too: else none lets go of it, however often it starts.
    await client.invokeStrong(get('k'));
  }
  await embedded.close();
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(dataDir, folder), { recursive: true, encoding: 'utf8' }).toSorted();

const refusal = (what: RegExp): unknown =>
  expect.objectContaining({ code: 'UNAVAILABLE', retryable: false, message: expect.stringMatching(what) });

describe('a deployment', () => {
  test.each(['irl', 'vrg'])(
    'the folder of %s is gone → no start, nothing is made, and what to do is said',
    async (lost) => {
      const first = start();
      for (const site of SITES) await work(first, site, `of ${site}`);
      await first.close();
      rmSync(folderOf(lost), { recursive: true });
      const advice = `nothing in sites/${lost}, and .* Put back what is gone, .* Do not remove the folder of a single site`;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(start).toThrow(refusal(new RegExp(advice)));
        expect(readdirSync(join(dataDir, 'sites'))).not.toContain(lost);
        await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
      }
    },
  );

  test.each(['irl', 'vrg'])('the folder of %s as it was before → no start', async (old) => {
    const first = start();
    await work(first, 'frk', 'first');
    await first.close();
    const backup = join(dataDir, 'backup');
    cpSync(folderOf(old), backup, { recursive: true });
    const second = start();
    for (const site of SITES) await work(second, site, `of ${site}`);
    await second.close();
    rmSync(folderOf(old), { recursive: true });
    cpSync(backup, folderOf(old), { recursive: true });
    expect(start).toThrow(refusal(/site \w+ has \d+ (operations of|entries of the red log)/));
  });

  test.each([
    ['blue', /site frk has 1 operations of irl, and irl keeps those from \d+ on/],
    ['red', /site frk has \d+ entries of the red log, and irl, which leads it, keeps those from \d+ on/],
  ] as const)(
    'a site that made nothing, its folder as it was before the others let go of %s entries → no start',
    { timeout: 240_000 },
    async (color, what) => {
      await workAtIrl(color, 1);
      const backup = join(dataDir, 'backup');
      cpSync(folderOf('frk'), backup, { recursive: true });
      const [first] = readdirSync(folderOf('irl')).filter((name) => name.endsWith('.log'));
      for (let round = 2; existsSync(join(folderOf('irl'), String(first))); round += 1) await workAtIrl(color, round);
      rmSync(folderOf('frk'), { recursive: true });
      cpSync(backup, folderOf('frk'), { recursive: true });
      const before = filesIn('sites');
      expect(start).toThrow(refusal(what));
      await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
      expect(filesIn('sites')).toEqual(before);
      expect(inspectDataFolder(dataDir).refusal).toMatch(what);
    },
  );

  test('the folders of two sites exchanged → no start, nothing is made, and which they are is said', async () => {
    const first = start();
    for (const site of SITES) await work(first, site, `of ${site}`);
    await first.close();
    const exchange = (): void => {
      renameSync(folderOf('irl'), folderOf('between'));
      renameSync(folderOf('vrg'), folderOf('irl'));
      renameSync(folderOf('between'), folderOf('vrg'));
    };
    exchange();
    const before = filesIn('sites');
    const what = /sites\/irl\/\d+\.log is a file of site 'vrg', and not of 'irl'/;
    expect(start).toThrow(refusal(what));
    await expect.poll(() => existsSync(join(dataDir, 'lock'))).toBe(false);
    expect(filesIn('sites')).toEqual(before);
    expect(inspectDataFolder(dataDir).sites[0]?.refusal).toMatch(what);
    exchange();
    await start().close();
  });

  test('a first start that was killed before all sites had a file → starts', async () => {
    await start().close();
    rmSync(folderOf('vrg'), { recursive: true });
    await start().close();
  });
});

describe('what others have of a site', () => {
  const names = ['a', 'b', 'c'];
  const held = (count: number, keptFrom = 1): HeldOf => ({ count, keptFrom });
  /** As much as everybody has, and all of it kept. */
  const all = (): Record<'red', HeldOf> & { streams: HeldOf[] } => ({
    streams: [held(3), held(2), held(9)],
    red: held(5),
  });

  test.each<[string, number, (of: ReturnType<typeof all>) => void, (of: ReturnType<typeof all>) => void, RegExp?]>([
    ['as much', 1, () => {}, () => {}],
    ['more of its stream', 1, (a) => (a.streams[1] = held(4)), () => {}, /^site a has 4 operations of b, which has 2/],
    ['more of the red log that it leads', 0, () => {}, (b) => (b.red = held(6)), /site b has 6 .* leads it, has 5$/],
    ['less', 0, () => {}, (b) => Object.assign(b, { streams: [held(1), held(2), held(0)], red: held(0) })],
    ['more of theirs, and can send that', 1, (a) => (a.streams[0] = held(7, 4)), () => {}],
    [
      'more of theirs, and cannot send all',
      1,
      (a) => (a.streams[0] = held(7, 5)),
      () => {},
      /^site b has 3 operations of a, and a keeps those from 5 on$/,
    ],
    [
      'more of a third, and cannot',
      1,
      (a) => (a.streams[2] = held(11, 12)),
      () => {},
      /b has 9 operations of c, and a /,
    ],
    ['more of the red log, and sends that', 1, (a) => (a.red = held(9, 6)), () => {}],
    ['more of the red log, and cannot', 1, (a) => (a.red = held(9, 7)), () => {}, /b has 5 entries of .* from 7 on$/],
    ['no more, and keeps nothing', 1, (a) => Object.assign(a, { streams: [held(3, 4)], red: held(5, 6) }), () => {}],
  ])('%s → %#', (_, site, changeA, changeB, problem) => {
    const holdings = [all(), all(), all()];
    changeA(holdings[0] as ReturnType<typeof all>);
    changeB(holdings[1] as ReturnType<typeof all>);
    const found = lostPast(holdings[site] as Holding, holdings, { site, redLeader: 0, names });
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(problem);
  });
});
