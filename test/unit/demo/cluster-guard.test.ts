/** What ends the nodes of a demo that has ended itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Guard } from '../../../demo/cluster/guard.ts';

test('the demo is gone → its processes are killed, even a frozen one, and its directory is removed', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'guard-'));
  writeFileSync(join(directory, 'data'), 'x');
  const guard = new Guard(directory);
  const sleepers = [0, 1, 2].map(() =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']),
  );
  const ends = sleepers.map((sleeper) => once(sleeper, 'exit'));
  for (const { pid } of sleepers) guard.add(pid as number);
  const [frozen, , released] = sleepers;
  frozen?.kill('SIGSTOP');
  guard.remove(released?.pid as number);
  await guard.close();
  expect(await ends[0]).toEqual([null, 'SIGKILL']);
  expect(await ends[1]).toEqual([null, 'SIGKILL']);
  expect(existsSync(directory)).toBe(false);
  // It is not the guard's any more.
  released?.kill('SIGTERM');
  expect(await ends[2]).toEqual([null, 'SIGTERM']);
});

test('without a directory → nothing is removed', async () => {
  const guard = new Guard();
  await guard.close();
  await guard.close();
});
