/**
 * A site whose disk fills up, fails, or whose peers are away: what it refuses, what it serves, how
 * it goes on; and when it waits for the disk with all that it does.
 */
// @rule STO-10, STO-12
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, CorrectableError } from '../../../../../src/index.ts';
import type { Client } from '../../../../../src/index.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { SiteBinding } from '../../../../../src/server/node/submission/site-binding.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import type { SiteDriver } from '../../../../../src/server/node/site-driver.ts';
import type { DurableStorageOptions } from '../../../../../src/server/node/storage/durable-storage.ts';
import { notesService } from './notes-service.ts';
import { startSite } from './virtual-site.ts';
import { VirtualMachine } from './virtual-storage.ts';
import { setImmediate as endOfTurn } from 'node:timers/promises';

const BACKLOG_MAX = 20;

let machine: VirtualMachine;
let drivers: SiteDriver[] = [];
beforeEach(() => {
  machine = new VirtualMachine(1, { segmentBytes: 4000, checkpointBytes: Infinity });
});
afterEach(() => {
  for (const driver of drivers) driver.close();
  drivers = [];
});

/** A client of a site of a deployment whose other sites are never heard of. */
function start(
  sites: readonly string[] = ['ireland'],
  lock?: DurableStorageOptions['lock'],
): Client<RedBlueLevels> {
  const options = {
    service: notesService(),
    sites,
    maxBacklogEntries: BACKLOG_MAX,
    sizes: { segmentBytes: 4000, ...(lock && { lock }) },
  };
  const driver = startSite(machine, options);
  drivers.push(driver);
  return createClient(new SiteBinding('ireland', driver));
}

/** The outcome of an update, once the disk has had its time. */
async function write(client: Client<RedBlueLevels>, key: string, value: unknown): Promise<unknown> {
  const outcome = client.invokeStrong(put(key, value)).then(
    () => 'done',
    (error: unknown) => error,
  );
  await endOfTurn();
  machine.run(100);
  return outcome;
}

async function fill(
  client: Client<RedBlueLevels>,
): Promise<{ readonly written: number; readonly refusal: unknown }> {
  for (let written = 0; ; written += 1) {
    const outcome = await write(client, `key ${written}`, 'x'.repeat(100));
    if (outcome !== 'done') return { written, refusal: outcome };
  }
}

describe('a full disk', () => {
  test('writes fail with UNAVAILABLE (retryable) and the cause; reads are served; with room again, writes go on', async () => {
    const client = start();
    machine.disk.isFull = true;
    const { written, refusal: rejection } = await fill(client);
    expect(written).toBeGreaterThan(1);
    expect(rejection).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('disk is full'),
    });
    expect(await client.invokeWeak(get('key 1'))).toBe('x'.repeat(100));
    machine.disk.isFull = false;
    machine.run(3000);
    expect(await write(client, 'key 1', 'new')).toBe('done');
    expect(await client.invokeWeak(get('key 1'))).toBe('new');
  });
});

describe('no file can be made', () => {
  test('while the process has no file descriptor left → writes fail with UNAVAILABLE and the cause; then they go on', async () => {
    const client = start();
    const make = machine.disk.make.bind(machine.disk);
    machine.disk.make = () => {
      throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
    };
    const { refusal: rejection } = await fill(client);
    expect(rejection).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      message: expect.stringContaining('EMFILE'),
    });
    machine.disk.make = make;
    machine.run(2000);
    expect(await write(client, 'key 1', 'new')).toBe('done');
  });
});

/** A lock that is taken away. */
class TestLock {
  isThere = true;
  readonly #listeners: ((error: CorrectableError) => void)[] = [];

  isHeld(): boolean {
    if (!this.isThere)
      for (const listener of this.#listeners.splice(0))
        listener(new CorrectableError('UNAVAILABLE', 'taken over'));
    return this.isThere;
  }

  onLost(listener: (error: CorrectableError) => void): void {
    this.#listeners.push(listener);
  }
}

describe('a directory that another process has taken over', () => {
  test('between two inputs → a read that comes then is not answered from what is old', async () => {
    const lock = new TestLock();
    const client = start(['ireland'], lock);
    expect(await write(client, 'a', 1)).toBe('done');
    lock.isThere = false;
    await expect(client.invokeWeak(get('a'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a disk that fails', () => {
  test('a write fails → writes in flight: UNKNOWN, later ones: UNAVAILABLE, with the cause', async () => {
    const client = start();
    machine.disk.write = (_write, _isMounted, done) => done(new Error('EIO: i/o error'));
    const message: unknown = expect.stringContaining('EIO');
    expect(await write(client, 'a', 1)).toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
      message,
    });
    expect(await write(client, 'b', 1)).toMatchObject({ code: 'UNAVAILABLE', message });
  });
});
