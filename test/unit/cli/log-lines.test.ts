/** What is logged where there may be no room for it. */
// @rule STO-24
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLineWriter } from '../../../src/cli/serve.ts';

test.runIf(fs.existsSync('/dev/full'))('no room → lines are dropped without an error', () => {
  const descriptor = fs.openSync('/dev/full', 'w');
  try {
    const { write } = createLineWriter(descriptor);
    for (let line = 0; line < 3; line += 1) expect(() => write('line\n')).not.toThrow();
  } finally {
    fs.closeSync(descriptor);
  }
});

test('room for half a line → the next one stands on a line of its own', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'correctables-lines-'));
  const path = join(folder, 'log');
  const descriptor = fs.openSync(path, 'w');
  const { writeSync } = fs;
  try {
    const { write } = createLineWriter(descriptor);
    write('first\n');
    const half = vi
      .spyOn(fs, 'writeSync')
      .mockImplementationOnce((to, bytes) => writeSync(to, bytes as unknown as Uint8Array, 0, 3));
    half.mockImplementationOnce(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    });
    write('second\n');
    half.mockRestore();
    write('third\n');
    expect(fs.readFileSync(path, 'utf8')).toBe('first\nsec\nthird\n');
  } finally {
    fs.closeSync(descriptor);
    fs.rmSync(folder, { recursive: true });
  }
});
