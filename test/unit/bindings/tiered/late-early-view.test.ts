/** An early view that arrives while a final one, which is older, is on its way to the caller. */
import { expect, test } from 'vitest';
import { tiered, versionSessions, withDetails } from '../../../../src/bindings/tiered/index.ts';
import { createClient } from '../../../../src/index.ts';
import { get } from '../../../../src/operations/index.ts';

async function readWithDelay(microtasks: number): Promise<unknown[]> {
  let answerOrigin = (): void => {};
  const answered = new Promise<void>((resolve) => (answerOrigin = resolve));
  let calls = 0;
  const binding = tiered(
    ['cache', 'origin'],
    {
      cache: async () => {
        await answered;
        for (let turn = 0; turn < microtasks; turn += 1) await Promise.resolve();
        return withDetails(2, { version: 2 });
      },
      origin: async () => {
        calls += 1;
        if (calls > 1) return withDetails(2, { version: 2 });
        await Promise.resolve();
        answerOrigin();
        return withDetails(1, { version: 1 });
      },
    },
    { sessions: versionSessions() },
  );
  const client = createClient(binding);
  const views: unknown[] = [];
  for await (const { value } of client.invoke(get('k'), { session: client.session() }))
    views.push(value);
  return views;
}

// @rule TIER-2
test.each(Array.from({ length: 12 }, (_, microtasks) => microtasks))(
  'an early view %i microtasks after the final answer → views never go back',
  async (microtasks) => {
    const views = await readWithDelay(microtasks);
    expect([[1], [2], [2, 2]]).toContainEqual(views);
  },
);
