/** Storage on a disk that has no room, for a while or at the start. */
// @rule STO-11
import { describe, expect, test, vi } from 'vitest';
import { numbers, SMALL, type TestSite, VirtualMachine, write } from './virtual-storage.ts';

/** The disk had no room for a checkpoint for `forMs`, which was reported; now it has room. */
function checkpointWithoutRoom(forMs: number): {
  readonly machine: VirtualMachine;
  readonly site: TestSite;
} {
  const machine = new VirtualMachine(1, { checkpointBytes: Infinity });
  const site = machine.start();
  site.append('local', ...numbers(50));
  machine.run();
  machine.disk.isFull = true;
  site.storage.checkpoint();
  machine.run(forMs);
  expect(site.events).toEqual([expect.stringContaining('ENOSPC')]);
  machine.disk.isFull = false;
  return { machine, site };
}

describe('durable storage: a full disk', () => {
  test('no room for the next file → full while half a file is left; room again → goes on by itself', () => {
    const machine = new VirtualMachine(1, SMALL);
    const site = machine.start();
    machine.disk.isFull = true;
    let accepted = 0;
    while (!site.storage.isFull) {
      site.append('local', `entry ${accepted}`);
      accepted += 1;
      machine.run(50);
    }
    // What was accepted before it was full still ends.
    site.append('local', 'accepted just before');
    machine.run();
    expect(site.synced.local).toBe(accepted + 1);
    expect(site.events.filter((event) => !event.startsWith('checkpoint'))).toEqual(['full']);
    machine.disk.isFull = false;
    machine.run();
    expect(site.storage.isFull).toBe(false);
    expect(site.events.filter((event) => !event.startsWith('checkpoint'))).toEqual([
      'full',
      'room',
    ]);
    for (const entry of numbers(50)) {
      site.append('local', `later ${entry}`);
      machine.run(50);
    }
    machine.disk.crash();
    expect(machine.start().entries.local).toHaveLength(accepted + 51);
  });

  test('no room for a checkpoint → logs stay, tried again until there is', () => {
    const { machine } = checkpointWithoutRoom(2500);
    machine.run();
    machine.disk.crash();
    const again = machine.start();
    expect(again.stored.checkpoint).toBeDefined();
    expect(again.entries.local).toEqual(numbers(50));
  });

  test('one is made before the next try is due → it is not tried again', () => {
    const { machine, site } = checkpointWithoutRoom(500);
    const cut = vi.spyOn(site, 'createCut');
    site.storage.checkpoint();
    machine.run(100_000);
    expect(cut).toHaveBeenCalledTimes(1);
  });

  test('no room at a start → UNAVAILABLE with that cause', () => {
    const machine = new VirtualMachine(1);
    machine.disk.isFull = true;
    expect(() => machine.start()).toThrow('there is no room on the disk');
  });

  test('what has begun when there is no other file → is written while half a file is left; then the log is stuck', () => {
    const machine = new VirtualMachine(1, SMALL);
    const site = machine.start();
    machine.disk.isFull = true;
    while (!site.storage.isFull) write(site, machine, 'before');
    expect(site.storage.isStuck).toBe(false);
    let ended = 0;
    while (!site.storage.isStuck) ended += write(site, machine, 'begun');
    expect(ended).toBeGreaterThan(5);
    machine.disk.isFull = false;
    machine.run(2000);
    expect([site.storage.isStuck, site.synced.local]).toEqual([false, site.entries.local.length]);
  });

  test('little room again, after a minute without → noticed within seconds', () => {
    const machine = new VirtualMachine(1, {
      segmentBytes: 4 * 1024 * 1024,
      checkpointBytes: Infinity,
    });
    const site = machine.start();
    site.append('local', 'x'.repeat(600_000));
    const make = machine.disk.make.bind(machine.disk);
    machine.disk.isFull = true;
    machine.run(70_000);
    expect(site.storage.isFull).toBe(true);
    machine.disk.isFull = false;
    // Room for a checkpoint and a small file, not for one of the usual size.
    machine.disk.make = (path, sizeBytes) => {
      if (sizeBytes > 1024 * 1024) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      make(path, sizeBytes);
    };
    machine.run(5000);
    expect(site.storage.isFull).toBe(false);
  });
});
