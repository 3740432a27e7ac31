/** Which generation of the red log a node follows. */
import { expect, test } from 'vitest';
import {
  isSuperseded,
  type RedGeneration,
} from '../../../../../src/server/node/red-log/red-generation.ts';

test('a node follows a newer generation that is open, and the one that it was sealed for', () => {
  const old: RedGeneration = { generation: 0, leader: 'ireland' };
  const sealed: RedGeneration = { generation: 1, leader: null };
  const open: RedGeneration = { generation: 1, leader: 'virginia' };
  expect(isSuperseded(old, open)).toBe(true);
  expect(isSuperseded(sealed, open)).toBe(true);
  expect(isSuperseded(old, sealed)).toBe(false);
  expect(isSuperseded(open, old)).toBe(false);
  expect(isSuperseded(open, open)).toBe(false);
});
