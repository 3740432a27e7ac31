/** COR-11: the levels of a join. */
import { expect, test } from 'vitest';
import type { Correctable, Levels } from '../../../../src/index.ts';
import { all, correctable } from '../../../../src/index.ts';
import { LEVELS, manual } from '../support.ts';

/** Returns the level of a join once each part has its first view. */
function levelOf(parts: readonly Correctable<unknown, Levels, string>[]): string | undefined {
  return all(parts).latest?.level;
}

/** A part with a view at its weakest level. */
function part(levels?: readonly [string, string]): Correctable<unknown, Levels, string> {
  if (levels !== undefined) return correctable(levels, (sink) => void sink.view(1, levels[0]));
  const { c, sink } = manual();
  sink.view(1, LEVELS[0]);
  return c;
}

test.each([
  ['one part', [part()], 'weak'],
  ['three parts with the same levels', [part(), part(), part()], 'weak'],
  ['the last of three has others', [part(), part(), part(['near', 'far'])], 'preliminary'],
])('COR-11: %s → at the level %s', async (_what, parts, level) => {
  // A late subscriber is called outside of the subscribing call.
  const joined = all(parts);
  await Promise.resolve();
  expect([joined.latest?.level, levelOf([])]).toEqual([level, 'final']);
});
