/** COR-8: runs on inputs that turned out wrong, and what they come to afterwards. */
import { expect, test } from 'vitest';
import { all, correctable, CorrectableError, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { LEVELS, manual, record, settled } from './support.ts';

test('COR-8d: the source fails while a run is undone, and a newer input waits → no run on that', async () => {
  const { c, sink } = manual<number>();
  let undo = (): void => {};
  const inputs: number[] = [];
  const result = c.speculate(
    (value) => void inputs.push(value),
    () => new Promise<void>((resolve) => (undo = resolve)),
  );
  const reported = record(result);
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  sink.fail(new CorrectableError('UNAVAILABLE', 'away'));
  await settled();
  undo();
  await settled();
  expect([inputs, reported.at(-1)]).toEqual([[1], 'error UNAVAILABLE']);
});

test('COR-8g: the run returns a Correctable of another store, which is not final yet → delivered at the weakest level', async () => {
  const { c, sink } = manual<number>();
  const reported = record(
    c.speculate(() => correctable(['near', 'far'], (inner) => void inner.view('early', 'near'))),
  );
  sink.view(1, 'causal');
  await settled();
  expect(reported).toEqual(['write early weak']);
});

test('COR-10: the step of a chain on a preliminary view has begun, another part fails → not retryable: one on the final may come', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const chained = client.invoke(get('a')).chain(() => client.invoke(get('b')));
  const other = client.invoke(get('c'));
  const failed = all([chained, other]).then(
    () => 'no error',
    (error: unknown) => error,
  );
  binding.calls[0]!.view(1, 'weak');
  await settled();
  expect(binding.calls).toHaveLength(3);
  binding.calls[1]!.fail(new CorrectableError('UNAVAILABLE', 'away'));
  expect(await failed).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
});
