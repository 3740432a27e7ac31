/**
 * COR-12: Correctables of another copy of the package, as a component library brings one of its
 * own.
 */
import { expect, test, vi } from 'vitest';
import { respondWithViews } from '../../../../src/http/index.ts';
import type { Binding, Operation } from '../../../../src/index.ts';
import { all, CorrectableError, getSnapshot } from '../../../../src/index.ts';
import { codeOf, LEVELS, manual, record, settled } from '../support.ts';

vi.resetModules();
const other = await import('../../../../src/index.ts');

/** As `manual`, of the other copy. */
function manualOfOther<T = unknown>() {
  const { correctable: c, sink, signal } = other.correctable(LEVELS).withSink<T>();
  return { c, sink, signal };
}

test('COR-12: the tests have two copies of the package', () => {
  expect(other.CorrectableError).not.toBe(CorrectableError);
});

test('COR-11, COR-12: all of parts of both copies with the same levels → the level of the weakest part', async () => {
  const mine = manual<number>();
  const theirs = manualOfOther<string>();
  const lines = record(all([mine.c, theirs.c]).map((values) => values.join('+')));
  mine.sink.view(1, 'causal');
  theirs.sink.view('a', 'weak');
  theirs.sink.view('b', 'strong');
  mine.sink.view(2, 'strong');
  await settled();
  expect(lines).toEqual(['write 1+a weak', 'write 1+b causal', 'final 2+b strong']);
});

test('COR-11, COR-12: all of a closed part of another copy, by name → its value', async () => {
  expect(await all({ known: other.correctableFromValue(1) })).toEqual({ known: 1 });
});

test('COR-11, COR-12: a part of another copy fails → all fails with its error', async () => {
  const { c, sink } = manualOfOther();
  const joined = all([c]);
  const error = new other.CorrectableError('FORBIDDEN', 'not yours');
  sink.fail(error);
  await expect(joined).rejects.toBe(error);
});

test('COR-10, COR-12: all is canceled → cancels a part of another copy', async () => {
  const { c, signal } = manualOfOther();
  const joined = all([c]);
  const outcome = codeOf(joined);
  joined.cancel('left');
  expect([await outcome, signal.aborted, c.state]).toEqual(['ABORTED', true, 'error']);
});

test('COR-10, COR-12: all is canceled, another consumer waits → the part of another copy goes on', async () => {
  const { c, sink, signal } = manualOfOther<number>();
  const lines = record(c);
  const joined = all([c]);
  const outcome = codeOf(joined);
  joined.cancel('left');
  sink.view(1, 'strong');
  expect([await outcome, signal.aborted, lines]).toEqual(['ABORTED', false, ['final 1 strong']]);
});

test('COR-8, COR-12: a step returns a Correctable of another copy → its preliminary views are shown', async () => {
  const input = manual<number>();
  const step = manualOfOther<string>();
  const lines = record(input.c.speculate(() => step.c));
  input.sink.view(1, 'causal');
  step.sink.view('a', 'weak');
  step.sink.view('b', 'strong');
  input.sink.view(1, 'strong');
  await settled();
  expect(lines).toEqual(['write a weak', 'write b causal', 'final b strong']);
});

/** A binding whose operations stay pending. */
const pending: Binding<readonly ['weak', 'strong']> = {
  name: 'pending',
  consistencyLevels: () => ['weak', 'strong'],
  supports: () => true,
  submitOperation: () => {},
  close: () => Promise.resolve(),
};
const write: Operation<unknown> = { name: 'put', args: { key: 'k', value: 1 }, access: 'write' };

test('COR-11, COR-12: a chain writes by another copy on a preliminary view, without an undo → UNKNOWN', async () => {
  const input = manual<number>();
  const outcome = codeOf(input.c.chain(() => other.createClient(pending).invoke(write)));
  input.sink.view(1, 'weak');
  expect(await outcome).toBe('UNKNOWN');
});

test('COR-12, COR-14: a write of another copy is in flight as all fails → its error suggests no retry', async () => {
  const mine = manual();
  const joined = all([mine.c, other.createClient(pending).invoke(write)]);
  mine.sink.fail(new CorrectableError('UNAVAILABLE', 'down'));
  await expect(joined).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false });
});

test('COR-12: snapshots of one of another copy → one object until something changes', () => {
  const { c, sink } = manualOfOther<number>();
  const before = getSnapshot(c);
  expect(getSnapshot(c)).toBe(before);
  sink.view(1, 'weak');
  const after = getSnapshot(c);
  expect([before.latest, after.latest?.value, getSnapshot(c) === after]).toEqual([
    undefined,
    1,
    true,
  ]);
});

test('COR-12: one of another copy fails → the snapshots in its listener and later have the error', () => {
  const { c, sink } = manualOfOther<number>();
  const shown: unknown[] = [];
  c.onError(() => shown.push(getSnapshot(c)));
  sink.fail(new Error('down'));
  expect(shown).toMatchObject([{ state: 'error', error: { code: 'FINAL_FAILED' } }]);
  expect(getSnapshot(c)).toBe(shown[0]);
});

test('COR-12: a weak level of another copy fails, and the operation goes on → respondWithViews reports it', async () => {
  const { c, sink } = manualOfOther<number>();
  const reported: unknown[] = [];
  const reply = respondWithViews(c, { onError: (error) => reported.push(error) });
  const failure = new Error('the cache is down');
  sink.fail(failure, 'weak');
  sink.view(1, 'strong');
  await (await reply).text();
  expect(reported).toEqual([failure]);
});
