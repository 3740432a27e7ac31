/** How the memory of a process is shared: what its thread may have, and its sites. */
// @rule STO-33
import { expect, test } from 'vitest';
import {
  chooseMemoryBytes,
  computeResourceLimits,
  getClientMemoryBytes,
  getSiteMemoryBytes,
  MIN_MEMORY_BYTES,
  parseMemorySize,
  suggestMemory,
} from '../../../../../src/server/node/memory/memory-size.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** What systems report that have no limit: nothing, or a number beyond all machines. */
const UNLIMITED = [0, 2 ** 64];

test('a process takes most of its container, or half of a machine', () => {
  expect(chooseMemoryBytes(4 * GIB, 64 * GIB)).toBe(Math.floor(3.2 * GIB));
  for (const limit of UNLIMITED) expect(chooseMemoryBytes(limit, 64 * GIB)).toBe(32 * GIB);
  expect(chooseMemoryBytes(64 * MIB, 64 * GIB)).toBe(MIN_MEMORY_BYTES);
});

test('a thread with a GiB has a larger young generation than by default', () => {
  expect(computeResourceLimits(GIB)).toMatchObject({ maxYoungGenerationSizeMb: 192 });
  expect(computeResourceLimits(GIB - 1)).not.toHaveProperty('maxYoungGenerationSizeMb');
});

test('the heap leaves room for buffers and the process, and sites leave room in the heap', () => {
  for (const bytes of [256 * MIB, 512 * MIB, GIB, 16 * GIB]) {
    const { maxOldGenerationSizeMb = 0, maxYoungGenerationSizeMb = 48 } =
      computeResourceLimits(bytes);
    const heap = (maxOldGenerationSizeMb + maxYoungGenerationSizeMb) * MIB;
    expect(heap).toBeLessThan(bytes - 64 * MIB);
    expect(heap).toBeGreaterThan(bytes / 2);
    expect(getSiteMemoryBytes(maxOldGenerationSizeMb * MIB)).toBeLessThan(0.75 * heap);
  }
});

test('the suggested memory holds what the sites need', () => {
  for (const needed of [10 * MIB, 500 * MIB, 6 * GIB]) {
    const { option, heap } = suggestMemory(needed);
    const { maxOldGenerationSizeMb = 0 } = computeResourceLimits(parseMemorySize(option) ?? 0);
    expect(0.8 * getSiteMemoryBytes(maxOldGenerationSizeMb * MIB)).toBeGreaterThan(needed);
    expect(0.8 * getSiteMemoryBytes(heap * MIB)).toBeGreaterThan(needed);
  }
});

test('clients of each site get a share of the heap, within bounds', () => {
  expect(getClientMemoryBytes(1, 4 * GIB)).toBe(512 * MIB);
  expect(getClientMemoryBytes(4, 4 * GIB)).toBe(128 * MIB);
  expect(getClientMemoryBytes(3, 100 * MIB)).toBe(16 * MIB);
});

test.each([
  ['512m', 512 * MIB],
  ['1.5G', 1536 * MIB],
  ['512', undefined],
  ['512k', undefined],
  ['-1g', undefined],
])('the size %s is %s bytes', (text, bytes) => {
  expect(parseMemorySize(text)).toBe(bytes);
});
