/** Dequeues of one process that travel on several connections. The primary is a list in memory. */
import { expect, test } from 'vitest';
import { createClient } from '../../../../src/index.ts';
import { postgres } from '../../../../src/bindings/postgres/index.ts';
import { dequeue } from '../../../../src/operations/index.ts';

const HELD_BACK = 2;

/** A primary at which the first dequeue arrives when the test says so. */
function createPrimary(items: string[]) {
  let [arrive, takes] = [(): void => {}, 0];
  const arrival = new Promise<void>((resolve) => (arrive = resolve));
  const take = (leave: number): object => {
    const { length } = items;
    const item = length > leave ? items.shift() : undefined;
    const held_back = item === undefined && length > 0;
    return {
      id: item === undefined ? null : String(length),
      item: item === undefined ? null : JSON.stringify(item),
      remaining: String(items.length),
      taken_at: '1',
      held_back: String(held_back),
    };
  };
  const run = async (statements: readonly { text: string; values: readonly unknown[] }[]) => {
    const taking = statements.find(({ text }) => text.includes('skip locked'));
    if (taking !== undefined && (takes += 1) === 1) await arrival;
    return statements.map((statement) => ({
      rows: statement === taking ? [take(Number(statement.values[1]))] : [{}],
      rowCount: 1,
    }));
  };
  return { run, arrive, countTakes: () => takes };
}

// @rule REPL-15, REPL-13
test('a dequeue that is held back, and whose caller leaves, takes nothing later', async () => {
  const items = ['a'];
  const primary = createPrimary(items);
  const client = createClient(postgres({ primary: { run: primary.run } }));
  const first = client.invokeStrong(dequeue('seats'));
  const leaving = new AbortController();
  const second = client
    .invokeStrong(dequeue('seats'), { signal: leaving.signal })
    .catch((error: unknown) => error);
  await expect.poll(primary.countTakes).toBe(HELD_BACK);
  leaving.abort();
  expect(await second).toMatchObject({ code: 'ABORTED' });
  items.push('b');
  primary.arrive();
  expect(await first).toEqual({ item: 'a' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(items).toEqual(['b']);
});

// @rule REPL-15
test('a dequeue that is held back takes what is added later, though the earlier one hangs', async () => {
  const items = ['a'];
  const primary = createPrimary(items);
  const client = createClient(postgres({ primary: { run: primary.run } }));
  const first = client.invokeStrong(dequeue('seats'));
  const second = client.invokeStrong(dequeue('seats'));
  await expect.poll(primary.countTakes).toBe(HELD_BACK);
  items.push('b');
  expect(await second).toEqual({ item: 'a' });
  primary.arrive();
  expect(await first).toEqual({ item: 'b' });
});
