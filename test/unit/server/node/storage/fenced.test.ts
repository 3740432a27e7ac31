/**
 * A site whose data another holder has taken over: it reports this, and acknowledges nothing more.
 */
import { expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { createStorageAlarms } from '../../../../../src/server/node/alarms/site-alarm.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { SiteBinding } from '../../../../../src/server/node/submission/site-binding.ts';
import { isFenced } from '../../../../../src/server/node/storage/disk/files.ts';
import { lockLostError } from '../../../../../src/server/node/storage/disk/directory-lock.ts';
import { encodeFrame, sealFrame } from '../../../../../src/server/node/storage/format/frames.ts';
import { FORMAT_VERSION } from '../../../../../src/server/node/storage/format/file-names.ts';
import { packEntries } from '../../../../../src/server/node/storage/format/packed-entries.ts';
import { readLog } from '../../../../../src/server/node/storage/format/log-file-reader.ts';
import { valuesService } from './notes-service.ts';
import { startSite } from './virtual-site.ts';
import { FOLDER, VirtualMachine } from './virtual-storage.ts';
import { setImmediate as endOfTurn } from 'node:timers/promises';

const HEAD_BYTES = 16;
const isLog = (path: string): boolean => path.endsWith('.log');

test('taken over while a write is in flight → UNKNOWN, an alarm, and the next holder lacks it', async () => {
  const machine = new VirtualMachine(1);
  const alarms: SiteAlarm[] = [];
  const events = createStorageAlarms('ireland', (alarm) => alarms.push(alarm));
  const site = startSite(machine, { service: valuesService(), sizes: { events } });
  const client = createClient(new SiteBinding('ireland', site));
  const retained = client.invoke(put('k', 'kept'));
  await endOfTurn();
  machine.run(100);
  await retained;

  machine.disk.depose();
  const lost = client.invoke(put('k', 'lost'));
  await endOfTurn();
  machine.run(100);
  await expect(lost).rejects.toMatchObject({ code: 'UNKNOWN' });
  expect(alarms).toEqual([expect.objectContaining({ kind: 'site-fenced', site: 'ireland' })]);
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(site.failure?.message).toContain('another one has its data');

  const next = startSite(machine, { service: valuesService() });
  const read = createClient(new SiteBinding('ireland', next)).invoke(get('k'));
  await endOfTurn();
  machine.run(100);
  expect(await read).toBe('kept');
  next.close();
});

test('a directory whose lock another process has → the error counts as fenced, and a disk failure does not', () => {
  expect(isFenced(lockLostError())).toBe(true);
  expect(isFenced(new Error('EIO'))).toBe(false);
});

test.each([
  ['its next log file is due', { segmentBytes: 1000 }, 20],
  ['a checkpoint is due', { checkpointBytes: 100 }, 0],
])('taken over, and %s before anything is written → fenced all the same', (_, sizes, count) => {
  const machine = new VirtualMachine(1, sizes);
  const site = machine.start();
  const write = machine.disk.write.bind(machine.disk);
  for (let written = 0; written < 4; written += 1) {
    site.append('local', 'x'.repeat(120));
    machine.run(50);
  }
  // What is on its way to the disk by then has been written before.
  machine.disk.write = (item, isMounted, done) =>
    isLog(item.path) ? write(item, () => false, done) : write(item, isMounted, done);
  machine.disk.depose();
  for (let written = 0; written < count; written += 1) site.append('local', 'x'.repeat(120));
  if (count === 0) site.storage.checkpoint();
  machine.run(5000);
  expect(site.events).toEqual(['fenced: taken over']);
});

test('each start → writes its term into its files, larger than the one before', () => {
  const machine = new VirtualMachine(1, { segmentBytes: 1000 });
  const terms: (number | undefined)[] = [];
  for (let start = 0; start < 3; start += 1) {
    const site = machine.start();
    site.append('local', `of ${start}`);
    machine.run();
    const name = machine.files('.log').at(-1) ?? '';
    terms.push(
      readLog(machine.disk.read(`${FOLDER}/${name}`), Number.parseInt(name, 10)).header?.term,
    );
    expect(site.storage.term).toBe(terms.at(-1));
  }
  expect(terms).toEqual([1, 2, 3]);
});

test('a file that a deposed holder has begun after it → counts for nothing, and goes', () => {
  const machine = new VirtualMachine(1);
  const old = machine.start();
  old.append('local', 'a');
  machine.run();
  machine.disk.crash();
  const holder = machine.start();
  holder.append('local', 'b');
  machine.run();
  machine.disk.crash();
  const late = 3;
  const header = { format: FORMAT_VERSION, term: 1, local: 1, red: 0 };
  const entries = packEntries(
    [{ log: 'local', entry: 'never acknowledged' }],
    HEAD_BYTES,
    1000,
  ).bytes;
  const frames = [
    encodeFrame(JSON.stringify(header), { file: late, index: 0 }),
    sealFrame(entries, { file: late, index: 1 }),
  ];
  machine.disk.put(`${FOLDER}/0000000003.log`, Buffer.concat(frames));
  const next = machine.start();
  expect(next.entries.local).toEqual(['a', 'b']);
  machine.run();
  expect(machine.files('.log')).not.toContain('0000000003.log');
  expect(next.storage.term).toBe(4);
});
