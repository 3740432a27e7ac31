/** A site that has lost its past, in a deployment whose other sites have theirs: no start, and what to do. */
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { enqueue, get, put } from '../../../src/operations/index.ts';
import { createEmbedded } from '../../../src/server/embedded.ts';
import type { Embedded } from '../../../src/server/embedded.ts';
import { lostPast } from '../../../src/server/redblue/lost-past.ts';
import { notesService } from './notes-service.ts';

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

  test('a first start that was killed before all sites had a file → starts', async () => {
    await start().close();
    rmSync(folderOf('vrg'), { recursive: true });
    await start().close();
  });
});

describe('what others have of a site', () => {
  const names = ['a', 'b'];
  test.each([
    [
      'as much as it has itself',
      [
        { streams: [3, 2], red: 5 },
        { streams: [3, 2], red: 5 },
      ],
      undefined,
    ],
    [
      'more of its stream',
      [
        { streams: [3, 2], red: 5 },
        { streams: [4, 2], red: 5 },
      ],
      'site b has 4 operations of a',
    ],
    [
      'more of the red log that it leads',
      [
        { streams: [3, 2], red: 5 },
        { streams: [3, 2], red: 6 },
      ],
      'which leads it',
    ],
    [
      'less',
      [
        { streams: [3, 2], red: 5 },
        { streams: [1, 2], red: 4 },
      ],
      undefined,
    ],
  ])('%s → %#', (_, holdings, problem) => {
    const found = lostPast(holdings, { site: 0, redLeader: 0, names });
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
});
