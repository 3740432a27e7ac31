/** The flag `--memory` takes a size. Without it, a process takes a share of what is there. */
import { expect, test } from 'vitest';
import { parseMemory } from '../../../../src/cli/flags/memory.ts';
import { chooseMemoryBytes } from '../../../../src/server/node/memory/memory-size.ts';

test('--memory 512m is 512 MiB, and the default is a share of the machine', () => {
  expect(parseMemory({ memory: '512m' })).toBe(512 * 2 ** 20);
  expect(parseMemory({})).toBe(chooseMemoryBytes());
});

test.each(['4', '4t', 'much', '64m'])('--memory %s is refused with what it takes', (memory) => {
  expect(() => parseMemory({ memory })).toThrow(
    `--memory takes a size from 256m on, as 512m or 4g, not "${memory}"`,
  );
});
