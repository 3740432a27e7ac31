/**
 * The stores of the news behind their own interfaces: plain copies, the line that is cut, and the
 * command line.
 */
import { createClient } from 'correctables';
import { get, getMany, put } from 'correctables/operations';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CUT_MAX_MS, Line } from '../../../demo/news/line.ts';
import { parseOptions } from '../../../demo/news/options.ts';
import { PlainCopies } from '../../../demo/news/plain-copies.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('plain copies', () => {
  test('a write reaches each copy after half of the round trip', async () => {
    const copies = new PlainCopies('measured');
    const [dublin, oregon] = [
      createClient(copies.site('dublin')),
      createClient(copies.site('oregon')),
    ];
    await dublin.invoke(put('k', 1));
    expect(await dublin.invoke(get('k'))).toBe(1);
    await vi.advanceTimersByTimeAsync(64);
    expect(await oregon.invoke(get('k'))).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(await oregon.invoke(getMany(['k', 'none']))).toEqual([1, undefined]);
    copies.close();
  });

  test('a line that is cut holds writes back until it is repaired', async () => {
    const copies = new PlainCopies('measured');
    const [dublin, sydney] = [
      createClient(copies.site('dublin')),
      createClient(copies.site('sydney')),
    ];
    copies.cut('sydney', 'dublin');
    await dublin.invoke(put('k', 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await sydney.invoke(get('k'))).toBeUndefined();
    copies.repair('dublin', 'sydney');
    await vi.advanceTimersByTimeAsync(130);
    expect(await sydney.invoke(get('k'))).toBe(1);
    copies.close();
  });
});

test('a line that a visitor leaves cut is repaired', async () => {
  const calls: string[] = [];
  const line = new Line({
    cutLine: async () => void calls.push('cut'),
    repairLine: async () => void calls.push('repair'),
  });
  await line.cut();
  expect(line.isCut).toBe(true);
  await vi.advanceTimersByTimeAsync(CUT_MAX_MS);
  expect(line.isCut).toBe(false);
  expect(calls).toEqual(['cut', 'repair']);
});

describe('the command line', () => {
  test('without flags → the page, with slow delays', () => {
    expect(parseOptions([], {})).toMatchObject({
      headless: false,
      delays: 'slow',
      hasRedis: false,
      port: 7450,
    });
    expect(parseOptions([], { PORT: '7999' })?.port).toBe(7999);
    expect(parseOptions(['--port', '0'], { PORT: '7999' })?.port).toBe(0);
    expect(parseOptions(['--redis'], {})?.hasRedis).toBe(true);
  });

  test('headless → measured delays, unless slow ones are asked for', () => {
    expect(parseOptions(['--headless'], {})?.delays).toBe('measured');
    expect(parseOptions(['--headless', '--delays', 'slow'], {})?.delays).toBe('slow');
  });

  test.each([
    [['--port', '70000'], {}, '--port takes an integer from 0 to 65535'],
    [[], { PORT: 'x' }, 'PORT takes an integer from 0 to 65535, not "x"'],
    [['--conversations', '0'], {}, '--conversations takes an integer from 1'],
    [['--delays', 'long'], {}, '--delays takes one of slow, measured'],
    [['--site', 'rome'], {}, 'unknown option --site'],
  ])('%j %j → refused, with what is wrong', (argv, environment, message) => {
    expect(() => parseOptions(argv, environment)).toThrow(message);
  });
});
