/** What the thread of the command may have. */
import { expect, test } from 'vitest';
import { computeResourceLimits } from '../../../src/cli/worker-thread.ts';

test.each([
  ['a GiB of memory → 64 MB, three times', 2 ** 30, { maxYoungGenerationSizeMb: 192 }],
  ['less → what V8 chooses', 2 ** 30 - 1, {}],
])('%s', (_what, bytes, limits) => {
  expect(computeResourceLimits(bytes)).toEqual(limits);
});
