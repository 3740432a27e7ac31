/** A data folder that the version before has written: it opens, and all that was answered is there. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCheckpoint } from '../../../../../src/server/storage/format/checkpoint-file.ts';
import { decodeFrames, encodeFrame, HEADER_BYTES } from '../../../../../src/server/storage/format/frames.ts';
import { readLog } from '../../../../../src/server/storage/format/log-file.ts';
import { inspectDataFolder } from '../../../../../src/server/storage/folder/inspect.ts';
import { named, openKept, shown, SITES, work } from '../../../../support/old-data/work.ts';
import type { Kept } from '../../../../support/old-data/work.ts';

const OF_BEFORE = fileURLToPath(new URL('../../../../fixtures/data-format-6/', import.meta.url));
const expected = JSON.parse(readFileSync(join(OF_BEFORE, 'expected.json'), 'utf8')) as {
  readonly states: Readonly<Record<string, unknown>>;
  readonly replies: Readonly<Record<string, unknown>>;
};

let dataDir: string;
let open: Kept[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'correctables-'));
  cpSync(join(OF_BEFORE, 'data'), dataDir, { recursive: true });
});
afterEach(async () => {
  await Promise.all(open.map((kept) => kept.close()));
  open = [];
  rmSync(dataDir, { recursive: true, force: true });
});

function start(): Kept {
  const kept = openKept(dataDir);
  open.push(kept);
  return kept;
}

async function stop(kept: Kept): Promise<void> {
  await kept.close();
  open = open.filter((each) => each !== kept);
}

const namesOf = (site: string, ending: string): string[] =>
  readdirSync(join(dataDir, 'sites', site))
    .filter((name) => name.endsWith(ending))
    .toSorted();
const bytesOf = (site: string, name: string): Buffer => readFileSync(join(dataDir, 'sites', site, name));
const formatOf = (): unknown =>
  (JSON.parse(readFileSync(join(dataDir, 'manifest.json'), 'utf8')) as { format: unknown }).format;

const numberOf = (name: string): number => Number.parseInt(name, 10);

/** The formats of a site's log files, in order; of those that were begun. */
const logFormats = (site: string): unknown[] =>
  namesOf(site, '.log').flatMap((name) => readLog(bytesOf(site, name), numberOf(name)).header?.format ?? []);

test('what is kept of the version before has what a folder may have', () => {
  expect(formatOf()).toBe(6);
  const saved = SITES.flatMap((site) => {
    const found = namesOf(site, '.checkpoint').map((name) => readCheckpoint(bytesOf(site, name), numberOf(name)));
    expect(found).toEqual([expect.objectContaining({ format: 6, damage: undefined })]);
    expect(new Set(logFormats(site))).toEqual(new Set([6]));
    return Object.entries(found[0]?.checkpoint?.sections ?? {}).flatMap(([name, rows]) =>
      rows.size > 0 ? [name] : [],
    );
  });
  for (const section of ['rows', 'slots', 'slots.clients', 'commits', 'endings', 'redAnswers']) {
    expect(saved).toContain(section);
  }
  const logs = SITES.flatMap((site) =>
    namesOf(site, '.log').map((name) => readLog(bytesOf(site, name), numberOf(name))),
  );
  expect(logs.length).toBeGreaterThan(SITES.length);
  const kinds = logs.flatMap(({ entries }) => entries.map(({ log }) => log));
  for (const log of ['local', 'red']) expect(kinds).toContain(log);
});

test('it opens: the state at each site, and the answers of what had a name', async () => {
  const kept = start();
  for (const site of SITES) expect(await shown(kept, site), site).toEqual(expected.states[site]);
  for (const [turn, reply] of Object.entries(expected.replies)) {
    const [operation = '', number = ''] = turn.split(' ');
    expect(await named(kept, operation === 'count' ? 'irl' : 'frk', Number(number) + 1, operation), turn).toEqual(
      reply,
    );
  }
  expect(await shown(kept, 'vrg')).toEqual(expected.states['vrg']);
});

test('what is written from then on is of this version, beside what is there; and it opens again', async () => {
  const first = start();
  expect(formatOf()).toBe(7);
  await work(first, 100);
  const state = await shown(first, 'frk');
  await stop(first);
  for (const site of SITES) {
    expect(logFormats(site)).toContain(7);
    expect([6, 7]).toEqual(expect.arrayContaining(logFormats(site)));
  }
  expect(inspectDataFolder(dataDir)).toMatchObject({ refusal: null, sites: SITES.map(() => ({ refusal: null })) });
  const second = start();
  for (const site of SITES) expect(await shown(second, site), site).toEqual(state);
});

test('log files that the version before had left over from earlier ones → are read', async () => {
  const [name = ''] = namesOf('frk', '.log');
  const bytes = bytesOf('frk', name);
  const file = numberOf(name);
  const [header = Buffer.alloc(0)] = decodeFrames(bytes, file);
  const older = header.toString().replace('"format":6', '"format":5');
  const rest = bytes.subarray(HEADER_BYTES + header.length);
  writeFileSync(join(dataDir, 'sites', 'frk', name), Buffer.concat([encodeFrame(older, { file, index: 0 }), rest]));
  expect(logFormats('frk')).toContain(5);
  const kept = start();
  expect(await shown(kept, 'frk')).toEqual(expected.states['frk']);
});

test.each([
  [5, /has format 5, and this version reads 6 and 7: open it once with a version that reads 5 and writes 6/],
  [99, /has format 99, .*: use the version that wrote it/],
])('a folder of format %i → refused, with what to do, and left as it is', (format, message) => {
  const path = join(dataDir, 'manifest.json');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/"format": \d+/, `"format": ${format}`));
  expect(start).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'dataDir', message: expect.stringMatching(message) }),
  );
  expect(inspectDataFolder(dataDir).refusal).toMatch(message);
  expect(formatOf()).toBe(format);
});
