/**
 * Where one file takes the place of another, and the disk is stopped in between: nothing that
 * counted is lost.
 */
import { expect, test } from 'vitest';
import { VirtualMachine } from '../virtual-storage.ts';

const SMALL = { segmentBytes: 1000, checkpointBytes: Infinity };
const texts = (count: number, text: string): string[] =>
  Array.from({ length: count }, (_, index) => `${index} ${text}`);

test('a checkpoint behind a whole one fails → the whole one stays, and what it alone has comes back', () => {
  const machine = new VirtualMachine(1, SMALL);
  const site = machine.start();
  for (const entry of texts(40, 'before')) {
    site.append('local', entry);
    machine.run(100);
  }
  site.storage.checkpoint();
  machine.run();
  expect(machine.files('.log')[0]).not.toBe('0000000001.log');
  site.append('local', 'after');
  machine.run(100);
  site.sections.local.takeClosed = () => {
    throw new RangeError('Invalid string length');
  };
  site.storage.checkpoint();
  machine.run(100);
  expect(site.events).toEqual(['checkpoint: Invalid string length']);
  machine.disk.crash();
  expect(machine.start().entries).toEqual(site.entries);
});

test('a checkpoint has all, and the first write of a new log file is in flight → the file before it stays', () => {
  const machine = new VirtualMachine(1, SMALL);
  const site = machine.start();
  const write = machine.disk.write.bind(machine.disk);
  // It never comes to its end, as at a crash.
  machine.disk.write = (item, ...rest) => {
    if (!item.path.endsWith('0000000002.log')) write(item, ...rest);
  };
  for (const entry of texts(40, 'entry')) {
    site.append('local', entry);
    machine.run(100);
  }
  const synced = site.entries.local.slice(0, site.synced.local);
  expect([machine.files('.log').length, synced.length < 40]).toEqual([2, true]);
  site.storage.checkpoint();
  machine.run();
  expect(machine.cut?.number).toBe(1);
  machine.disk.crash();
  machine.disk.write = write;
  expect(machine.start().entries.local).toEqual(synced);
});

test('a large group that does not fit, while another one is in flight → the next file begins behind that', () => {
  const machine = new VirtualMachine(1, { ...SMALL, largeGroup: 3 });
  const site = machine.start();
  site.append('local', ...texts(6, 'x'.repeat(90)));
  machine.run();
  expect(machine.files('.log')).toHaveLength(2);
  const retained: (() => void)[] = [];
  const write = machine.disk.write.bind(machine.disk);
  machine.disk.write = (...args) => retained.push(() => write(...args));
  site.append('local', ...texts(3, 'small'));
  machine.run(1);
  site.append('local', ...texts(3, 'x'.repeat(120)));
  machine.run(1);
  expect(retained.length).toBeGreaterThan(0);
  machine.disk.write = write;
  for (const go of retained) go();
  machine.run();
  expect(site.synced.local).toBe(12);
  machine.disk.crash();
  expect(machine.start().entries).toEqual(site.entries);
});
