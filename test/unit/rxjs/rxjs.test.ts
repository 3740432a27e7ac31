/** Between Correctables and observables. */
import {
  from,
  lastValueFrom,
  of,
  range,
  retry,
  Subject,
  switchMap,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { correctable } from '../../../src/correctable/client/create.ts';
import type { Sink } from '../../../src/correctable/binding.ts';
import type { CorrectableEvent } from '../../../src/correctable/environment.ts';
import type { Correctable } from '../../../src/correctable/correctable.ts';
import {
  atLeast,
  finalOnly,
  fromObservable,
  toObservable,
  values,
} from '../../../src/rxjs/index.ts';

const LEVELS = ['cache', 'backup', 'primary'] as const;
type Three = typeof LEVELS;

function news(...views: readonly (readonly [string, Three[number]])[]): Correctable<string, Three> {
  return correctable<string, Three>(LEVELS, (sink) => {
    for (const [value, level] of views) sink.view(value, level);
  });
}

function scripted(): { sink: Sink<string, Three[number]>; views: Correctable<string, Three> } {
  let sink: Sink<string, Three[number]> | undefined;
  const views = correctable<string, Three>(LEVELS, (value) => void (sink = value));
  return { sink: sink as unknown as Sink<string, Three[number]>, views };
}

const COMPLETE = [
  ['a', 'cache'],
  ['b', 'backup'],
  ['c', 'primary'],
] as const;

describe('toObservable', () => {
  test('subscribed before the views → all of them, then completion', async () => {
    const { sink, views } = scripted();
    const all = lastValueFrom(toObservable(views).pipe(values(), toArray()));
    for (const [value, level] of COMPLETE) sink.view(value, level);
    expect(await all).toEqual(['a', 'b', 'c']);
  });

  test('subscribed after the end → the final view, then completion', async () => {
    expect(await lastValueFrom(toObservable(news(...COMPLETE)).pipe(values(), toArray()))).toEqual([
      'c',
    ]);
  });

  test('the operation fails → the observable fails with the same error', async () => {
    const { sink, views } = scripted();
    const failed = lastValueFrom(toObservable(views));
    sink.fail(new Error('gone'));
    await expect(failed).rejects.toMatchObject({ code: 'FINAL_FAILED' });
  });

  test('COR-10: unsubscribing → nothing more arrives, the operation goes on', async () => {
    const { sink, views } = scripted();
    const got: string[] = [];
    const subscription = toObservable(views).subscribe(({ value }) => got.push(value));
    sink.view('a', 'cache');
    subscription.unsubscribe();
    sink.view('c', 'primary');
    expect(await views).toBe('c');
    expect(got).toEqual(['a']);
  });

  test('a function, and switchMap → each read is canceled when the next one begins, and reports no error', async () => {
    const reads: { sink: Sink<string, Three[number]>; isAborted: boolean }[] = [];
    const invoke = (): Correctable<string, Three> =>
      correctable<string, Three>(LEVELS, (sink, signal) => {
        const read = { sink, isAborted: false };
        signal.addEventListener('abort', () => (read.isAborted = true));
        reads.push(read);
      });
    const text = new Subject<string>();
    const all = lastValueFrom(
      text.pipe(
        switchMap(() => toObservable(invoke)),
        values(),
        toArray(),
      ),
    );
    for (const key of ['a', 'ab', 'abc']) text.next(key);
    expect(reads.map(({ isAborted }) => isAborted)).toEqual([true, true, false]);
    reads[2]!.sink.view('weak', 'cache');
    reads[2]!.sink.view('strong', 'primary');
    text.complete();
    expect(await all).toEqual(['weak', 'strong']);
    expect(reads[2]!.isAborted).toBe(false);
  });

  test('a function, and retry → each subscription calls it, and the last error arrives once', async () => {
    let calls = 0;
    const failing = toObservable(() =>
      correctable<string, Three>(LEVELS, (sink) => {
        calls++;
        sink.fail(new Error('gone'));
      }),
    );
    await expect(lastValueFrom(failing.pipe(retry(2)))).rejects.toMatchObject({
      code: 'FINAL_FAILED',
    });
    expect(calls).toBe(3);
  });

  test('a function that returns a promise → the observable fails, and names the Correctable that it expects', async () => {
    const later = toObservable((async () => news(...COMPLETE)) as never);
    await expect(lastValueFrom(later)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('from(correctable): RxJS itself sees every view', async () => {
    const { sink, views } = scripted();
    const all = lastValueFrom(from(views).pipe(toArray()));
    for (const [value, level] of COMPLETE) sink.view(value, level);
    expect(
      (await all).map((reported) => (typeof reported === 'object' ? reported.value : 'no view')),
    ).toEqual(['a', 'b', 'c']);
  });
});

describe('operators', () => {
  test('finalOnly → the final view alone, typed as final', async () => {
    const { sink, views } = scripted();
    const final = lastValueFrom(toObservable(views).pipe(finalOnly(), toArray()));
    for (const [value, level] of COMPLETE) sink.view(value, level);
    const got = await final;
    expect(got.map(({ value }) => value)).toEqual(['c']);
    expectTypeOf(got[0]!.final).toEqualTypeOf<true>();
    expectTypeOf(got[0]!.level).toEqualTypeOf<'cache' | 'backup' | 'primary'>();
  });

  test('atLeast: a level and the stronger ones pass', async () => {
    const { sink, views } = scripted();
    const strong = lastValueFrom(toObservable(views).pipe(atLeast(LEVELS, 'backup'), toArray()));
    for (const [value, level] of COMPLETE) sink.view(value, level);
    const got = await strong;
    expect(got.map(({ level }) => level)).toEqual(['backup', 'primary']);
    expectTypeOf(got[0]!.value).toEqualTypeOf<string>();
  });

  test('atLeast: an unknown level → UNKNOWN_LEVEL at once', () => {
    const loose = atLeast as (levels: readonly string[], level: string) => unknown;
    expect(() => loose(LEVELS, 'quorum')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_LEVEL' }),
    );
  });
});

describe('fromObservable', () => {
  test('plain values → each refines at the weakest level, completion makes the last one final', async () => {
    const search = new Subject<number>();
    const results = fromObservable(['partial', 'complete'], search);
    const shown: string[] = [];
    results.subscribe(({ value, level, final }) =>
      shown.push(`${level}=${value}${final ? '!' : ''}`),
    );
    for (const n of [1, 2, 3]) search.next(n);
    search.complete();
    expect(await results).toBe(3);
    expect(shown).toEqual(['partial=1', 'partial=2', 'partial=3', 'complete=3!']);
  });

  test('one level: no emission closes it, completion does', async () => {
    expect(await fromObservable(['only'], of(1, 2))).toBe(2);
  });

  test('view: emissions say their level; the strongest closes and unsubscribes', async () => {
    const offers = new Subject<{ offers: number[]; isLive: boolean }>();
    const flights = fromObservable(['cached', 'live'], offers, {
      view: ({ offers: value, isLive }, index) => ({
        value,
        level: isLive ? 'live' : 'cached',
        version: index,
      }),
    });
    expectTypeOf(flights).toEqualTypeOf<Correctable<number[], readonly ['cached', 'live']>>();
    offers.next({ offers: [9], isLive: false });
    expect(flights.latest).toMatchObject({ value: [9], level: 'cached', final: false, version: 0 });
    offers.next({ offers: [8], isLive: true });
    expect(await flights).toEqual([8]);
    expect(offers.observed).toBe(false);
  });

  test('view: completion without the strongest level → CLOSED_WITHOUT_FINAL', async () => {
    const views = fromObservable(LEVELS, of('a'), {
      view: (value) => ({ value, level: 'backup' }),
    });
    await expect(views).rejects.toMatchObject({
      code: 'CLOSED_WITHOUT_FINAL',
      lastView: { value: 'a' },
    });
  });

  test('no emission → CLOSED_WITHOUT_FINAL', async () => {
    await expect(fromObservable(LEVELS, of<string[]>())).rejects.toMatchObject({
      code: 'CLOSED_WITHOUT_FINAL',
    });
  });

  test('the observable fails → so does the Correctable, with the cause', async () => {
    const cause = new Error('socket closed');
    const failing = fromObservable(
      LEVELS,
      throwError(() => cause),
    );
    await expect(failing).rejects.toMatchObject({ code: 'FINAL_FAILED', cause });
  });

  test('cancelled → unsubscribes', async () => {
    const search = new Subject<number>();
    const results = fromObservable(['partial', 'complete'], search);
    expect(search.observed).toBe(true);
    results.cancel();
    expect(search.observed).toBe(false);
    await expect(results).rejects.toMatchObject({ code: 'ABORTED' });
  });

  for (const [how, view] of [
    ['plain', undefined],
    ['view', (value: number) => ({ value, level: 'cache' as const })],
  ] as const) {
    test(`${how}: cancelled while the observable emits on the spot, without end → unsubscribes`, async () => {
      const stop = new AbortController();
      let emitted = 0;
      const endless = range(0, Infinity).pipe(
        tap((n) => {
          emitted++;
          if (n === 3) stop.abort();
        }),
      );
      const drops: string[] = [];
      const options = {
        signal: stop.signal,
        onEvent: (event: CorrectableEvent) => drops.push(event.type),
      };
      const views = view
        ? fromObservable(LEVELS, endless, { ...options, view })
        : fromObservable(['partial', 'complete'], endless, options);
      await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
      expect(emitted).toBe(4);
      expect(drops).toEqual([]);
    });
  }

  test('there and back → the same views', async () => {
    const { sink, views } = scripted();
    const back = fromObservable(LEVELS, toObservable(views), { view: (view) => view });
    const all = lastValueFrom(toObservable(back).pipe(toArray()));
    for (const [value, level] of COMPLETE) sink.view(value, level);
    expect((await all).map(({ value, level }) => [value, level])).toEqual(
      COMPLETE.map((view) => [...view]),
    );
  });
});
