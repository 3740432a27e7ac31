/** Damage of a site's rows, which is found by the read of one of them, or by a start. */
// @rule ROW-10
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../../../../src/index.ts';
import { get, put } from '../../../../../../src/operations/index.ts';
import {
  openEmbedded,
  type Embedded,
} from '../../../../../../src/server/node/embedded/embedded.ts';
import type { SiteAlarm } from '../../../../../../src/server/node/alarms/site-alarm.ts';
import { encodeKey } from '../../../../../../src/server/node/storage/rows/sealed-entries.ts';
import { getRowKey } from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { formatRowName } from '../../../../../../src/server/service/state/saved-names.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';
import { notesService } from '../notes-service.ts';

type Level = ClassicLevel<Uint8Array, Uint8Array>;

let dataDir: string;
let alarms: SiteAlarm[];
beforeEach(() => {
  dataDir = temporaryFolder();
  alarms = [];
});

const start = (): Promise<Embedded<'ireland'>> =>
  openEmbedded(notesService(), {
    sites: ['ireland'],
    dataDir,
    onAlarm: (alarm) => void alarms.push(alarm),
  });

const folder = (): string => join(dataDir, 'sites/ireland');
const countLogs = (): number =>
  readdirSync(folder()).filter((name) => name.endsWith('.log')).length;

/** Leaves a directory in which the store has all rows, and the logs have none of them. */
async function createCommitted(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    const embedded = await start();
    const client = createClient(embedded.site('ireland'));
    for (const key of ['a', 'b', 'c']) await client.invoke(put(key, `${key} of ${round}`));
    await embedded.close();
  }
  // A start with many log files makes a checkpoint.
  const embedded = await start();
  await expect.poll(countLogs).toBeLessThan(3);
  await embedded.close();
}

/** Changes the store while no process has it open. */
async function change(run: (level: Level) => Promise<void>): Promise<void> {
  const level: Level = new ClassicLevel(join(folder(), 'rows'), {
    keyEncoding: 'view',
    valueEncoding: 'view',
  });
  await level.open();
  await run(level);
  await level.close();
}

const rowKey = (key: string): Uint8Array => getRowKey('rows', formatRowName('values', key));

async function flipOneBit(level: Level, key: Uint8Array): Promise<void> {
  const value = Buffer.from((await level.get(key)) as Uint8Array);
  value[value.length - 1] = (value.at(-1) as number) ^ 1;
  await level.put(key, value);
}

describe('a read of a row that', () => {
  test.each([
    ['is damaged', (level: Level) => flipOneBit(level, rowKey('b')), /is damaged/],
    ['is missing', (level: Level) => level.del(rowKey('b')), /"b" of 'values' is missing/],
    [
      'has the bytes of another one',
      async (level: Level) => level.put(rowKey('b'), (await level.get(rowKey('a'))) as Uint8Array),
      /is damaged/,
    ],
  ])('%s → the site stops and answers nothing; others keep theirs', async (_, spoil, problem) => {
    await createCommitted();
    await change(spoil);
    alarms = [];
    const embedded = await start();
    const client = createClient(embedded.site('ireland'));
    await expect(client.invokeWeak(get('a'))).resolves.toBe('a of 3');
    await expect(client.invokeWeak(get('b'))).rejects.toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE' }),
    );
    // It answers no more of what it has, either.
    await expect(client.invokeWeak(get('a'))).rejects.toThrow(/rows are damaged/);
    await embedded.close();
    const damages = alarms.filter(({ kind }) => kind === 'data-damaged');
    expect(damages.map(({ message }) => message)).toEqual([expect.stringMatching(problem)]);
  });
});

test('a write that would change a damaged row → the site stops, and the outcome is unknown', async () => {
  await createCommitted();
  await change((level) => flipOneBit(level, rowKey('b')));
  const embedded = await start();
  const client = createClient(embedded.site('ireland'));
  await expect(client.invoke(put('b', 'new'))).rejects.toThrow(
    expect.objectContaining({ code: 'UNKNOWN' }),
  );
  await embedded.close();
});

describe('a store that has lost its cut', () => {
  test('the logs have less than all → no start, and what it has is left as it is', async () => {
    await createCommitted();
    await change((level) => level.del(encodeKey('cut', '')));
    await expect(start()).rejects.toThrow(
      expect.objectContaining({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('there are no rows'),
      }),
    );
    await change(async (level) => {
      expect(await level.get(rowKey('a'))).toBeDefined();
    });
  });
});
