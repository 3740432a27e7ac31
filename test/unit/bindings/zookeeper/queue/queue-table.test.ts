/** Names that were only asked for go; queues that are known, or in use, stay. */
import { expect, test } from 'vitest';
import { QueueTable } from '../../../../../src/bindings/zookeeper/queue/queue-table.ts';

test('many names of which nothing is known → few are kept; one that is known, and one in use, stay', async () => {
  let made = 0;
  const table = new QueueTable((name) => ({
    name,
    made: (made += 1),
    isForgettable: name !== 'known',
  }));
  const known = await table.use('known', async (queue) => queue);
  let end: () => void = () => {};
  const inUse = table.use(
    'in use',
    async (queue) => new Promise<typeof queue>((done) => (end = () => done(queue))),
  );
  for (let n = 0; n < 1_000; n += 1) await table.use(`inbox-${n}`, async () => {});
  expect(table.all.length).toBeLessThan(10);
  expect(await table.use('known', async (queue) => queue)).toBe(known);
  const again = await table.use('in use', async (queue) => queue);
  end();
  expect(again).toBe(await inUse);
});
