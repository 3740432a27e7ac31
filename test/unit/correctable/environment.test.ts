/**
 * What all operations of a client share: the time of the running stretch of code, and what was
 * dropped (COR-15).
 */
import { expect, test, vi } from 'vitest';
import { CorrectableError, createClient, systemClock } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { LEVELS, manual } from './support.ts';

test('COR-15: nothing was dropped yet → each reason counts 0', () => {
  expect(createClient(scriptedBinding(LEVELS)).drops).toEqual({
    weaker: 0,
    older: 0,
    repeated: 0,
    'not-requested': 0,
    'unknown-level': 0,
    closed: 0,
  });
});

test('COR-1: views that come together → the clock is read once, and they carry one time', async () => {
  let readings = 0;
  const clock = { ...systemClock, now: () => (readings += 1), wallNow: () => readings };
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding, { clock, timeoutMs: Infinity }).invoke(get('k'));
  const call = await binding.next();
  readings = 0;
  const times: number[] = [];
  read.subscribe(({ at }) => times.push(at));
  for (const level of LEVELS) call.view(1, level);
  await read;
  expect([readings, new Set(times).size]).toEqual([1, 1]);
});

test('COR-4: a callback throws, and the platform has no way to report that → thrown in a task of its own; the Correctable goes on', async () => {
  const later: (() => void)[] = [];
  vi.stubGlobal('process', {});
  vi.stubGlobal('setTimeout', (fire: () => void) => later.push(fire));
  const mistake = new Error('mistake');
  const { c, sink } = manual();
  c.onUpdate(() => {
    throw mistake;
  });
  sink.view(1, 'weak');
  vi.unstubAllGlobals();
  sink.view(2, 'strong');
  expect(await c).toBe(2);
  expect(later).toHaveLength(1);
  expect(later[0]).toThrow(mistake);
});

test('COR-4: a callback throws a value that is no error → a process warning with that value', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { c, sink } = manual();
  c.onUpdate(() => {
    throw 'a word';
  });
  sink.view(1, 'weak');
  expect(warned.mock.calls).toEqual([['a word']]);
  warned.mockRestore();
});

test('COR-6: the strongest level fails with an error with or without a level → the level is named, in the message too', async () => {
  const failing = async (error: unknown): Promise<unknown> => {
    const binding = scriptedBinding(LEVELS);
    const read = createClient(binding).invoke(get('k'));
    const call = await binding.next();
    call.view(1, 'weak');
    call.fail(error, 'strong');
    return read.catch((reported: unknown) => reported);
  };
  expect(await failing(new Error('disk'))).toMatchObject({
    code: 'FINAL_FAILED',
    level: 'strong',
    message: expect.stringContaining('the strong view failed') as string,
  });
  const own = new CorrectableError('CONFLICT', 'not now', { level: 'causal' });
  expect(await failing(own)).toMatchObject({
    code: 'CONFLICT',
    level: 'causal',
    message: 'not now',
  });
});
