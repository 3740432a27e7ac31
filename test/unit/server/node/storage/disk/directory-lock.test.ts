/**
 * The lock of a data folder: whose it is, when it may be broken, and what its owner notices after a
 * pause.
 */
// @rule STO-14
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  fenceFiles,
  getMachineId,
  getStartTime,
  lockDirectory,
} from '../../../../../../src/server/node/storage/disk/directory-lock.ts';
import { NodeFiles } from '../../../../../../src/server/node/storage/disk/node-files.ts';
import type {
  DirectoryLock,
  LockClock,
} from '../../../../../../src/server/node/storage/disk/directory-lock.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';

let root: string;
let path: string;
let retained: DirectoryLock[] = [];
beforeEach(async () => {
  root = temporaryFolder();
  path = join(root, 'lock');
  return async () => {
    for (const lock of retained) lock.release();
    retained = [];
  };
});

/** Clocks that stand still but for what is slept, and what happens meanwhile. */
class TestClock implements LockClock {
  nowMs = 1000;
  nowWallMs = 5000;
  slept?: () => void;

  monotonicMs(): number {
    return this.nowMs;
  }

  wallMs(): number {
    return this.nowWallMs;
  }

  sleepMs(ms: number): void {
    this.nowMs += ms;
    this.slept?.();
  }
}

function take(clock = new TestClock()): DirectoryLock {
  const lock = lockDirectory(path, clock);
  retained.push(lock);
  return lock;
}

/** A lock file as a process on another machine leaves it, or keeps it. */
function lockElsewhere(): string {
  const text = JSON.stringify({ pid: 7, startedAt: '1', place: 'another machine' });
  fs.writeFileSync(path, text);
  return text;
}

/** What another process does to a lock that it takes for left behind. */
function takeOver(): void {
  fs.rmSync(path);
  lockElsewhere();
}

describe('a lock from elsewhere', () => {
  test.each(['1970-01-02', '2199-01-01'])('its time is %s and moves → in use', (time) => {
    lockElsewhere();
    fs.utimesSync(path, new Date(time), new Date(time));
    const clock = new TestClock();
    let touches = 0;
    clock.slept = () => {
      touches += 1;
      if (clock.nowMs >= 3000) fs.utimesSync(path, new Date(touches), new Date(touches));
    };
    expect(() => take(clock)).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir' }),
    );
    expect(clock.nowMs).toBeLessThan(4000);
  });

  test('its time stands still for 15 s of this clock, however old it is → broken then, not before', () => {
    lockElsewhere();
    fs.utimesSync(path, new Date(0), new Date(0));
    const clock = new TestClock();
    const lock = take(clock);
    expect(clock.nowMs).toBe(16_000);
    expect(lock.isHeld()).toBe(true);
  });

  test('reports before it waits that the lock of a process elsewhere is in the way', () => {
    lockElsewhere();
    const clock = new TestClock();
    const messages: string[] = [];
    const lock = lockDirectory(path, clock, (message) => messages.push(message));
    retained.push(lock);
    expect(messages).toEqual([expect.stringMatching(/locked by process 7 .*Waiting up to 15 s/)]);
  });

  test('another one takes it first → in use, and the other lock stays', () => {
    lockElsewhere();
    const clock = new TestClock();
    const other = JSON.stringify({ pid: process.pid, startedAt: 'x', place: 'a third machine' });
    let polls = 0;
    clock.slept = () => {
      polls += 1;
      if (polls === 59) fs.writeFileSync(path, other);
      else if (polls > 60) fs.utimesSync(path, new Date(polls), new Date(polls));
    };
    const renamed = vi.spyOn(fs, 'renameSync');
    expect(() => take(clock)).toThrow('in use');
    expect(fs.readFileSync(path, 'utf8')).toBe(other);
    // Not even for a moment: its owner may look just then.
    expect(renamed).not.toHaveBeenCalled();
    renamed.mockRestore();
  });
});

describe('the owner', () => {
  test.each([
    ['its own clock', { nowMs: 4001, nowWallMs: 0 }],
    ['the clock of the day, as after a sleep of the machine', { nowMs: 0, nowWallMs: 4001 }],
  ])(
    'a gap by %s, and another process has taken over → not held, reported once',
    (_, { nowMs, nowWallMs }) => {
      const clock = new TestClock();
      const lock = take(clock);
      const reported: string[] = [];
      lock.onLost(({ message }) => reported.push(message));
      takeOver();
      clock.nowMs += nowMs;
      clock.nowWallMs += nowWallMs;
      expect([lock.isHeld(), lock.isHeld()]).toEqual([false, false]);
      expect(reported).toEqual([expect.stringContaining('another process has taken it over')]);
    },
  );

  test('a gap, and no other process has taken over → held, and its time has moved', () => {
    const clock = new TestClock();
    const lock = take(clock);
    fs.utimesSync(path, new Date(0), new Date(0));
    clock.nowMs += 20_000;
    expect(lock.isHeld()).toBe(true);
    expect(fs.statSync(path).mtimeMs).toBeGreaterThan(0);
  });

  test('released → removed and no longer held; a lock that another process has taken stays', () => {
    const first = take();
    first.release();
    expect(fs.existsSync(path)).toBe(false);
    const lock = take();
    expect([first.isHeld(), lock.isHeld()]).toEqual([false, true]);
    fs.rmSync(path);
    const text = lockElsewhere();
    lock.release();
    expect(fs.readFileSync(path, 'utf8')).toBe(text);
  });

  test('another process has taken over → no file is created, replaced or removed in the directory any more', () => {
    const clock = new TestClock();
    const nodeFiles = new NodeFiles(root);
    const files = fenceFiles(nodeFiles, take(clock));
    takeOver();
    fs.writeFileSync(join(root, 'theirs'), 'x');
    clock.nowMs += 4001;
    const rejection = expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir' });
    expect(() => files.createNow('made', 1)).toThrow(rejection);
    const errors: unknown[] = [];
    files.create('made', 1, (error) => errors.push(error));
    expect(errors).toEqual([rejection]);
    expect(() => files.replace('theirs', new Uint8Array(2))).toThrow(rejection);
    files.remove('theirs');
    files.removeNow('theirs');
    expect(nodeFiles.isBusy).toBe(false);
    expect(fs.readdirSync(root).toSorted()).toEqual(['lock', 'theirs']);
    expect(fs.readFileSync(join(root, 'theirs'), 'utf8')).toBe('x');
  });

  test.runIf(fs.existsSync('/proc/self/stat'))(
    'its owner has ended, and his parent has not noticed → taken',
    async () => {
      // A child that ends on a signal of the test. Its parent shell becomes a program that never
      // waits for it.
      const script = 'read line <&3 & echo $!; exec cat';
      const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore', 'pipe'] });
      onTestFinished(() => void parent.kill());
      const [stdin, stdout, toChild] = [
        parent.stdin as Writable,
        parent.stdout as Readable,
        parent.stdio[3] as Writable,
      ];
      const [line] = (await once(stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      // The shell would reap the child if it ended before. The echo shows that the shell has become
      // cat.
      stdin.write('here\n');
      await once(stdout, 'data');
      toChild.end('\n');
      await expect.poll(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /);
      fs.writeFileSync(
        path,
        JSON.stringify({ pid, startedAt: getStartTime(pid), place: getMachineId() }),
      );
      expect(take().isHeld()).toBe(true);
    },
  );

  test('this process asks again → in use, without a wait', () => {
    const clock = new TestClock();
    take(clock);
    expect(() => take(clock)).toThrow(`process ${process.pid} has it open`);
    expect(clock.nowMs).toBe(1000);
  });
});

describe('a volume without hard links', () => {
  beforeEach(() => {
    const link = vi.spyOn(fs, 'linkSync').mockImplementation((from) => {
      const message = `EPERM: operation not permitted, link '${String(from)}'`;
      throw Object.assign(new Error(message), { code: 'EPERM', syscall: 'link' });
    });
    return () => link.mockRestore();
  });

  test('keeps a second process out, and is released', () => {
    const lock = take();
    expect(lock.isHeld()).toBe(true);
    expect(fs.readdirSync(root)).toEqual(['lock']);
    expect(() => take()).toThrow(`process ${process.pid} has it open`);
    lock.release();
    expect(fs.readdirSync(root)).toEqual([]);
    expect(take().isHeld()).toBe(true);
  });

  test('waits for the name of an owner that has just made the lock', () => {
    fs.writeFileSync(path, '');
    const clock = new TestClock();
    const owner = {
      pid: process.pid,
      startedAt: getStartTime(process.pid),
      machineId: getMachineId(),
    };
    clock.slept = () => fs.writeFileSync(path, JSON.stringify(owner));
    expect(() => take(clock)).toThrow(`process ${process.pid} has it open`);
  });

  test('takes a lock that its owner never named', () => {
    fs.writeFileSync(path, '');
    const clock = new TestClock();
    expect(take(clock).isHeld()).toBe(true);
    expect(clock.nowMs).toBeGreaterThanOrEqual(3000);
  });

  test('a process that was paused before it named its lock does not have it, if another one took it meanwhile', () => {
    const { writeSync } = fs;
    let other: DirectoryLock | undefined;
    const write = vi.spyOn(fs, 'writeSync').mockImplementation((descriptor, text) => {
      // The draft is written first, and then the lock in its place.
      if (write.mock.calls.length === 2) {
        other = take(new TestClock());
        write.mockRestore();
      }
      return writeSync(descriptor, text as string);
    });
    expect(() => take(new TestClock())).toThrow(`process ${process.pid} has it open`);
    expect(other?.isHeld()).toBe(true);
  });

  test('an owner whose lock was moved aside by mistake stops, and others stay out', () => {
    lockElsewhere();
    const clock = new TestClock();
    let other: DirectoryLock | undefined;
    const { renameSync } = fs;
    // Between the last look and the move, another process takes the lock.
    const rename = vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      fs.rmSync(path);
      other = take(clock);
      renameSync(from, to);
    });
    expect(() => take(clock)).toThrow(`process ${process.pid} has it open`);
    rename.mockRestore();
    clock.nowMs += 5000;
    expect(other?.isHeld()).toBe(false);
  });
});
