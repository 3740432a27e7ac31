/** COR-8c, COR-8d, COR-8f: what undoes a run, what commits it, and what neither may do. */
import { expect, test, vi } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import type { ScriptedCall } from '../../../src/testing/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Three } from './support.ts';
import { codeOf, LEVELS, manual, settled } from './support.ts';

test('COR-8c: a failing abort of a result that was cancelled → onUncaught gets it', async () => {
  const onUncaught = vi.fn();
  const { c, sink } = manual<number>({ onUncaught });
  const cause = new Error('cannot undo');
  const result = c.speculate(
    (value) => value,
    () => Promise.reject(cause),
  );
  sink.view(1, 'weak');
  result.cancel();
  expect(await codeOf(result)).toBe('ABORTED');
  await settled();
  expect(onUncaught).toHaveBeenCalledExactlyOnceWith(cause);
});

test('COR-8c: the abort function → gets the input that the run was given, not the one that repeats it', async () => {
  const { c, sink } = manual<{ readonly n: number; readonly at: string }>({
    equals: (a, b) => a.n === b.n,
  });
  const aborted = vi.fn();
  const result = c.speculate(({ n }) => n, aborted);
  sink.view({ n: 1, at: 'first' }, 'weak');
  sink.view({ n: 1, at: 'again' }, 'causal');
  sink.view({ n: 2, at: 'last' }, 'strong');
  expect(await result).toBe(2);
  expect(aborted).toHaveBeenCalledExactlyOnceWith({ n: 1, at: 'first' }, 1);
});

test('COR-8c: refuted → its signal aborts, whenever it is asked for; what the run gave is left', async () => {
  const { c, sink } = manual<number>();
  const inner = manual<string>();
  const scopes: { readonly signal: AbortSignal }[] = [];
  void c
    .speculate((_value, scope) => {
      scopes.push(scope);
      return scopes.length === 1 ? inner.c : 'last';
    })
    .onError(() => 0);
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  await settled();
  expect(scopes[0]!.signal.aborted).toBe(true);
  expect(scopes[1]!.signal.aborted).toBe(false);
  // It has no other listener: cancelling the only Correctable derived from it cancels it too.
  inner.c.map(String).cancel();
  expect(inner.c.state).toBe('error');
  sink.view(2, 'strong');
});

test.each<[how: string, refute: (call: ScriptedCall<Three[number]>) => void]>([
  ['C8c: another final comes', (call) => call.view(2, 'strong')],
  ['C8d: the source fails', (call) => call.fail(new Error('down'))],
])('%s, and the undo hangs → the deadline of the operation holds', async (_how, refute) => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding, { clock }).invoke(get<number>('k'), { timeoutMs: 100 });
  const result = read.speculate(
    (value) => value,
    () => new Promise<void>(() => {}),
  );
  const code = codeOf(result);
  const call = await binding.next();
  call.view(1, 'weak');
  await clock.advance(40);
  refute(call);
  await clock.advance(59);
  expect(result.state).toBe('pending');
  await clock.advance(1);
  expect(await code).toBe('TIMEOUT');
});

test('COR-8f: effects are in flight or done, and the result is cancelled → nothing is undone', async () => {
  const { c, sink } = manual<number>();
  const undo = vi.fn();
  let finish!: () => void;
  const result = c.speculate((value, { onAbort, onCommit }) => {
    onAbort(undo);
    onCommit(() => new Promise<void>((resolve) => (finish = resolve)));
    return value;
  });
  sink.view(1, 'strong');
  result.cancel();
  expect(await codeOf(result)).toBe('UNKNOWN');
  finish();
  await settled();
  expect(undo).not.toHaveBeenCalled();
});

test('COR-8f: the first effect fails, and then the undo → closed by the first failure, onUncaught gets the second', async () => {
  const onUncaught = vi.fn();
  const { c, sink } = manual<number>({ onUncaught });
  const [effect, undo] = [new Error('cannot do'), new Error('cannot undo')];
  const result = c.speculate(
    (value, { onCommit }) => {
      onCommit(() => Promise.reject(effect));
      return value;
    },
    () => Promise.reject(undo),
  );
  sink.view(1, 'strong');
  await expect(result).rejects.toMatchObject({ cause: effect });
  expect(onUncaught).toHaveBeenCalledExactlyOnceWith(undo);
});

test('COR-1, COR-8d: the source fails, and the result is cancelled while its run is undone → closed once', async () => {
  const { c, sink } = manual<number>();
  let finish!: () => void;
  const result = c.speculate(
    (value) => value,
    () => new Promise<void>((resolve) => (finish = resolve)),
  );
  const codes: string[] = [];
  result.onError(({ code }) => codes.push(code));
  sink.view(1, 'weak');
  sink.fail(new Error('down'));
  await settled();
  result.cancel();
  finish();
  await settled();
  expect(codes).toEqual(['ABORTED']);
  expect(await codeOf(result)).toBe('ABORTED');
});
