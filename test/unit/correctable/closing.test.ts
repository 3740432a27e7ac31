/** COR-1 closing, COR-6 failures, COR-14 errors. */
import { expect, test, vi } from 'vitest';
import {
  correctable,
  CorrectableError,
  createClient,
  isCorrectableError,
} from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { codeOf, LEVELS, manual, unhandledDuring } from './support.ts';

test('COR-1: an executor that ends without a final → CLOSED_WITHOUT_FINAL with the last view', async () => {
  const c = correctable(LEVELS, async (sink) => {
    sink.view('guess', 'weak');
  });
  const error = await c.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'CLOSED_WITHOUT_FINAL',
    lastView: { value: 'guess', level: 'weak' },
  });
});

test('COR-1: an executor that rejects → FINAL_FAILED with the cause', async () => {
  const cause = new Error('no route');
  const c = correctable(LEVELS, async () => {
    throw cause;
  });
  expect(await c.catch((reason: unknown) => reason)).toMatchObject({ code: 'FINAL_FAILED', cause });
});

test('COR-1: a binding that hangs → TIMEOUT after 30 s, with the last view, and its signal aborts', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding, { clock }).invoke(get('k'));
  const error = read.catch((reason: unknown) => reason);
  const call = await binding.next();
  call.view(7, 'weak');
  expect(call.context.deadlineAt).toBe(30_000);
  await clock.advance(29_999);
  expect(read.state).toBe('pending');
  await clock.advance(1);
  expect(await error).toMatchObject({ code: 'TIMEOUT', retryable: true, lastView: { value: 7 } });
  expect(call.context.signal.aborted).toBe(true);
});

test('COR-1: many operations with one limit → one timer, each closes at its own time', async () => {
  const clock = virtualClock();
  const client = createClient(scriptedBinding(LEVELS), { clock });
  const codes: string[] = [];
  for (let i = 0; i < 3; i++) {
    client.invoke(get('k'), { timeoutMs: 10 }).onError(({ code }) => codes.push(code));
    await clock.advance(4);
  }
  expect(clock.pendingTimers).toBe(1);
  expect(codes).toEqual(['TIMEOUT']);
  await clock.advance(1);
  expect(codes).toEqual(['TIMEOUT']);
  await clock.advance(1);
  expect(codes).toEqual(['TIMEOUT', 'TIMEOUT']);
  await clock.advance(4);
  expect(codes).toHaveLength(3);
  expect(clock.pendingTimers).toBe(0);
});

test('COR-1: a level has its own limit → that level fails, the operation goes on', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding, { clock }).invoke(get('k'), {
    levelTimeoutsMs: { weak: 5, strong: 50 },
  });
  const failure = read.catch((reason: unknown) => reason);
  await clock.advance(5);
  expect(read.state).toBe('pending');
  await clock.advance(45);
  expect(await failure).toMatchObject({ code: 'TIMEOUT', level: 'strong' });
  expect(await failure).toMatchObject({
    levelErrors: { weak: { code: 'TIMEOUT', level: 'weak' } },
  });
});

test('COR-6: the final fails → an error with the last view and the failures of the levels', async () => {
  const { c, sink } = manual();
  const backup = new Error('backup down');
  sink.fail(backup, 'weak');
  sink.view('x', 'causal');
  const primary = new Error('primary down');
  sink.fail(primary, 'strong');
  const error = await c.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'FINAL_FAILED',
    level: 'strong',
    cause: primary,
    lastView: { value: 'x' },
  });
  expect(error).toMatchObject({ levelErrors: { weak: backup, strong: primary } });
});

test('COR-6: the binding fails with a typed error → its code and hints stay', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('k'));
  const call = await binding.next();
  call.view(1, 'weak');
  const { CorrectableError } = await import('../../../src/index.ts');
  call.fail(new CorrectableError('OVERLOADED', 'Too many; wait', { retryAfterMs: 40 }));
  const error = await read.catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'OVERLOADED',
    retryable: true,
    retryAfterMs: 40,
    lastView: { value: 1 },
  });
});

test('COR-14: the guard → holds for an error of another copy of the package, not for others', async () => {
  const { CorrectableError } = await import('../../../src/index.ts');
  const foreign = Object.assign(new Error('elsewhere'), {
    name: 'CorrectableError',
    code: 'TIMEOUT',
  });
  expect(isCorrectableError(foreign, 'TIMEOUT')).toBe(true);
  expect(isCorrectableError(foreign, 'ABORTED')).toBe(false);
  expect(isCorrectableError(new CorrectableError('CONFLICT', 'x'))).toBe(true);
  expect(isCorrectableError(new Error('x'))).toBe(false);
  expect(isCorrectableError({ name: 'CorrectableError', code: 'TIMEOUT' })).toBe(false);
});

test('COR-14: the limit of a level out of range → INVALID_ARGUMENT that names it, nothing submitted', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  for (const limit of [Number.NaN, -5, 0, '1s', '5', null]) {
    const refused = client.invoke(put('k', 1), { levelTimeoutsMs: { strong: limit as number } });
    const error = await refused.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'levelTimeoutsMs.strong' });
    expect(await codeOf(client.invoke(put('k', 1), { timeoutMs: (limit ?? '') as number }))).toBe(
      'INVALID_ARGUMENT',
    );
  }
  expect(binding.calls).toEqual([]);
  const clock = virtualClock();
  const endless = createClient(binding, { clock, timeoutMs: Infinity });
  endless.invoke(put('k', 1), { levelTimeoutsMs: { strong: Infinity } });
  expect(clock.pendingTimers).toBe(0);
});

test('COR-14: after close() → operations and sessions are refused as UNAVAILABLE, not retryable', async () => {
  const openSession = vi.fn();
  const client = createClient(Object.assign(scriptedBinding(LEVELS), { openSession }));
  await client.close();
  const rejection = { code: 'UNAVAILABLE', retryable: false };
  await expect(client.invoke(get('k'))).rejects.toMatchObject(rejection);
  expect(() => client.session()).toThrow(expect.objectContaining(rejection));
  expect(openSession).not.toHaveBeenCalled();
});

test('COR-14: a call that is refused → leaves no deadline and no listener behind', async () => {
  const clock = virtualClock();
  const { signal } = new AbortController();
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, { clock });
  // @ts-expect-error the level does not exist
  const refused = client.invoke(get('k'), { signal, levelTimeoutsMs: { weak: 1, eventual: 1 } });
  expect(await codeOf(refused)).toBe('UNKNOWN_LEVEL');
  const unhandled = await unhandledDuring(() => clock.runAll());
  expect(unhandled).toEqual([]);
  expect(binding.calls).toEqual([]);
});

test('COR-1: a level has come in time → its limit passes without effect; at the end no timer is left', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const levelTimeoutsMs = { weak: 5, causal: 10, strong: 500 };
  const read = createClient(binding, { clock, timeoutMs: Infinity }).invoke(get('k'), {
    levelTimeoutsMs,
  });
  const call = await binding.next();
  call.view(1, 'causal');
  await clock.advance(10);
  expect(call.context.levelSignals!['weak']!.aborted).toBe(true);
  call.fail(new Error('down'));
  expect(clock.pendingTimers).toBe(0);
  const error = await read.catch((reason: unknown) => reason);
  expect(error).toHaveProperty('code', 'FINAL_FAILED');
  expect(error).toHaveProperty('levelErrors', {});
});

test('a binding that can be shared → the client works with a handle of its own, and closes that alone', async () => {
  const own = scriptedBinding(LEVELS);
  const shared = Object.assign(scriptedBinding(LEVELS), { openHandle: () => own });
  const client = createClient(shared);
  client.invoke(get('k')).onError(() => 0);
  expect([shared.calls.length, own.calls.length]).toEqual([0, 1]);
  await client.close();
  expect([shared.isClosed, own.isClosed]).toEqual([false, true]);
});

test('a client with a trace → each submission carries what it gave at the invocation', async () => {
  const binding = scriptedBinding(LEVELS);
  let count = 0;
  const client = createClient(binding, { trace: () => `trace ${++count}` });
  for (const key of ['a', 'b']) client.invoke(get(key)).onError(() => 0);
  expect(binding.calls.map(({ context }) => context.trace)).toEqual(['trace 1', 'trace 2']);
});

test.each([
  ['TIMEOUT', true],
  ['CONFLICT', true],
  ['UNAVAILABLE', true],
  ['OVERLOADED', true],
  ['REPLICA_BEHIND', true],
  ['UNKNOWN', false],
  ['ABORTED', false],
  ['FINAL_FAILED', false],
  ['PROTOCOL', false],
] as const)('C14: %s → retryable: %s by default', (code, retryable) => {
  expect(new CorrectableError(code, 'x').retryable).toBe(retryable);
  expect(new CorrectableError(code, 'x', { retryable: !retryable }).retryable).toBe(!retryable);
});
