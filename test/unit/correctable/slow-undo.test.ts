/** COR-8c: a run whose undo takes its time. */
import { expect, test } from 'vitest';
import { manual, record, settled } from './support.ts';

test('COR-8c: the view that refuted it is confirmed in the meantime → its result is not delivered as the final one', async () => {
  const { c, sink } = manual<number>();
  let undo = (): void => {};
  const result = c.speculate(
    (value) => 10 * value,
    () => new Promise<void>((resolve) => (undo = resolve)),
  );
  const reported = record(result);
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  sink.view(2, 'strong');
  await settled();
  expect(reported).toEqual(['write 10 weak']);
  undo();
  expect(await result).toBe(20);
  expect(reported).toEqual(['write 10 weak', 'final 20 strong']);
});
