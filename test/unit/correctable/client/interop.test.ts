/** COR-12 interop, COR-13 making. */
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  boxCorrectable,
  correctable,
  type Correctable,
  CorrectableError,
  correctableFromPromise,
  correctableFromValue,
  createClient,
  getSnapshot,
} from '../../../../src/index.ts';
import type { CorrectableBox, CorrectableEvent, Sink } from '../../../../src/index.ts';
import { get } from '../../../../src/operations/index.ts';
import { scriptedBinding } from '../../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import { codeOf, LEVELS, manual, record, settled, unhandledDuring } from '../support.ts';

test('COR-12: for await on a failure → the views, then the error once', async () => {
  const { c, sink } = manual<number>();
  const iterator = c[Symbol.asyncIterator]();
  sink.view(1, 'weak');
  sink.fail(new Error('down'));
  expect(await iterator.next()).toMatchObject({ value: { value: 1 } });
  expect(await codeOf(iterator.next())).toBe('FINAL_FAILED');
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
});

test('COR-12: a slow reader of a refining source → at most one view waits per level', async () => {
  const { c, sink } = manual<number>({ isRefining: true });
  const iterator = c[Symbol.asyncIterator]();
  for (let i = 0; i < 10; i++) sink.view(i, 'weak');
  sink.view(10, 'causal');
  sink.view(11, 'strong');
  const values: unknown[] = [];
  for (let step = await iterator.next(); step.done !== true; step = await iterator.next())
    values.push(step.value.value);
  expect(values).toEqual([9, 10, 11]);
});

test('COR-12: a reader that waits, two refinements at once → it gets the first, then the second', async () => {
  const { c, sink } = manual<number>({ isRefining: true });
  const iterator = c[Symbol.asyncIterator]();
  const first = iterator.next();
  sink.view(1, 'weak');
  sink.view(2, 'weak');
  expect([(await first).value?.value, (await iterator.next()).value?.value]).toEqual([1, 2]);
});

test('COR-12: several next() at once → views in order, the rest done', async () => {
  const { c, sink } = manual<number>();
  const iterator = c[Symbol.asyncIterator]();
  const steps = [iterator.next(), iterator.next(), iterator.next()];
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(
    (await Promise.all(steps)).map(({ value, done }) => done === true || value?.value),
  ).toEqual([1, 2, true]);
});

test('COR-12: return() → pending reads end, the error of the operation is not its business any more', async () => {
  const reasons = await unhandledDuring(async () => {
    const { c, sink } = manual<number>();
    const iterator = c[Symbol.asyncIterator]();
    const pending = iterator.next();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    sink.fail(new Error('down'));
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
  expect(reasons).toEqual([]);
});

/**
 * What an iterator gives for the calls, each by itself and all at once, as an async generator of
 * the views does.
 */
test.each([
  'throw',
  'return',
  'next, throw',
  'next, return',
  'next next next, throw',
  'next next, return next',
])('COR-12: an iterator after %s → as an async generator', async (calls) => {
  const drive = async (iterator: AsyncGenerator<unknown>): Promise<unknown[]> => {
    const outcomes: unknown[] = [];
    for (const group of calls.split(', ')) {
      const steps = group.split(' ').map((name) => {
        const step =
          name === 'throw'
            ? iterator.throw(new Error('left'))
            : iterator[name as 'return'](Promise.resolve(7));
        return step.then(({ done, value }) => (done === true ? value : 'a view'), String);
      });
      outcomes.push(...(await Promise.all(steps)));
    }
    return [...outcomes, await iterator.next()];
  };
  async function* native(): AsyncGenerator<unknown> {
    yield* [1, 2];
  }
  const { c, sink } = manual<number>();
  const iterator = c[Symbol.asyncIterator]() as AsyncGenerator<unknown>;
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(await drive(iterator)).toEqual(await drive(native()));
});

test('COR-12: yield* of a Correctable, into which its consumer throws → the generator catches that error', async () => {
  const { c, sink } = manual<number>();
  async function* page(): AsyncGenerator<unknown> {
    try {
      yield* c;
    } catch (error) {
      yield error;
    }
  }
  const iterator = page();
  sink.view(1, 'weak');
  await iterator.next();
  const left = new Error('left');
  expect(await iterator.throw(left)).toEqual({ done: false, value: left });
  expect(c.state).toBe('pending');
});

test('COR-12: an iterator is disposed of → the reading ends, the operation goes on', async () => {
  const { c, sink } = manual<number>();
  const iterator = c[Symbol.asyncIterator]() as AsyncGenerator<unknown>;
  sink.view(1, 'weak');
  await iterator[Symbol.asyncDispose]();
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
  expect(c.state).toBe('pending');
});

test('COR-12: boxed → crosses an async function unabsorbed', async () => {
  const { c } = manual<number>();
  const open = async (): Promise<CorrectableBox<number, typeof LEVELS>> => boxCorrectable(c);
  expect((await open()).correctable).toBe(c);
});

test('COR-12: getSnapshot → one object until something changes', () => {
  const { c, sink } = manual<number>();
  c.onError(() => 0);
  const first = getSnapshot(c);
  expect(first).toEqual({ state: 'pending', latest: undefined, error: undefined });
  expect(getSnapshot(c)).toBe(first);
  sink.view(1, 'weak');
  const second = getSnapshot(c);
  expect(second).not.toBe(first);
  expect(second.latest?.value).toBe(1);
  expect(getSnapshot(c)).toBe(second);
  sink.view(0, 'weak');
  expect(getSnapshot(c)).toBe(second);
  sink.fail(new Error('down'));
  expect(getSnapshot(c)).toMatchObject({
    state: 'error',
    latest: { value: 1 },
    error: { code: 'FINAL_FAILED' },
  });
});

test('COR-12: a Correctable is no Promise, and its tag names it', () => {
  const { c } = manual();
  expect(c).not.toBeInstanceOf(Promise);
  expect(Object.prototype.toString.call(c)).toBe('[object Correctable]');
});

test('COR-12: console.log of lines in a key and an error for a value → one line all the same', () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('user\n7'));
  binding.calls[0]!.view(new Error('down'), 'weak');
  expect(inspect(read)).toMatch(
    /^Correctable\(get "user 7"\) \{ pending, weak: .*Error: down.*\}$/,
  );
  binding.calls[0]!.view(1, 'strong');
});

test('COR-12: console.log → one line: the operation, the state, the latest view', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('user:7'));
  expect(inspect(read)).toBe('Correctable(get "user:7") { pending }');
  const user = { name: 'Ada', text: 'x'.repeat(200), tags: ['a', 'b'] };
  binding.calls[0]!.view(user, 'weak');
  const shown = `weak: { name: 'Ada', text: '${user.text}', tags: [ 'a', 'b' ] }`;
  expect(inspect(read)).toBe(`Correctable(get "user:7") { pending, ${shown} }`);
  expect(inspect({ read }, { breakLength: Infinity })).toBe(
    `{ read: Correctable(get "user:7") { pending, ${shown} } }`,
  );
  const mapped = read.map((item) => item);
  const failed = codeOf(mapped);
  binding.calls[0]!.fail(new CorrectableError('UNAVAILABLE', 'down'));
  await failed;
  expect(inspect(mapped)).toBe(`Correctable(get "user:7") { UNAVAILABLE, ${shown} }`);
  expect(inspect(correctableFromValue(4))).toBe('Correctable(operation) { final, final: 4 }');
});

test('COR-12: console.log of a value that holds its own Correctable → an end of it', () => {
  const { c, sink } = manual<object>();
  sink.view({ c }, 'weak');
  expect(inspect(c)).toMatch(
    /^Correctable\(operation\) \{ pending, weak: \{ c: .*\[Object\].* \}$/,
  );
});

test('COR-13: the executor calls the sink on the spot → the Correctable is born closed', async () => {
  const c = correctable<number, typeof LEVELS>(LEVELS, (sink) => {
    sink.view(1, 'weak');
    sink.view(2, 'strong');
  });
  expect(c.state).toBe('final');
  expect(await c).toBe(2);
});

test('COR-13: the executor throws → closes with the cause, nothing is thrown', async () => {
  const cause = new Error('boom');
  const c = correctable(LEVELS, () => {
    throw cause;
  });
  expect(await c.catch((error: unknown) => error)).toMatchObject({ code: 'FINAL_FAILED', cause });
});

test('COR-13: the executor takes a signal → aborted by cancel, not by the end', async () => {
  const signals: AbortSignal[] = [];
  const sinks: Sink<number>[] = [];
  const make = (): Correctable<number, readonly ['only']> =>
    correctable<number, readonly ['only']>(['only'], (sink, signal) => {
      sinks.push(sink as Sink<number>);
      signals.push(signal);
    });
  const cancelled = make();
  cancelled.cancel('enough');
  expect(signals[0]?.aborted).toBe(true);
  expect(await codeOf(cancelled)).toBe('ABORTED');
  const ended = make();
  sinks[1]!.view(1, 'only');
  await ended;
  expect(signals[1]?.aborted).toBe(false);
});

test('COR-13: answers that accumulate → the same level again, from a refining source', async () => {
  const c = correctable<number, readonly ['some', 'all']>(
    ['some', 'all'],
    (sink) => {
      for (let found = 1; found <= 3; found++) sink.view(found, found === 3 ? 'all' : 'some');
    },
    { isRefining: true },
  );
  expect(await c).toBe(3);
});

test('COR-13: misuse of the sink → counted, never thrown into the binding', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const read = client.invoke(get('k'));
  const call = await binding.next();
  // @ts-expect-error a level that does not exist
  call.view(1, 'eventual');
  // @ts-expect-error a level that does not exist
  call.fail(new Error('x'), 'eventual');
  expect(read.state).toBe('pending');
  call.view(2, 'strong');
  call.view(3, 'strong');
  call.confirm('strong', 0);
  call.fail(new Error('x'));
  expect(client.drops).toMatchObject({ 'unknown-level': 2, closed: 3 });
  expect(await read).toBe(2);
});

test('COR-13: levels alone → what makes Correctables of them, each on its own', async () => {
  const make = correctable(LEVELS);
  const item = make<number>((sink) => void sink.view(1, 'strong'));
  const two = make<number>((sink) => void sink.view(2, 'strong'), { timeoutMs: 1_000 });
  expect([await item, await two]).toEqual([1, 2]);
  // @ts-expect-error no level
  expect(() => correctable([])).toThrow(expect.objectContaining({ field: 'levels' }));
});

test('COR-13: withSink → the sink of a Correctable, and its signal', async () => {
  const { correctable: price, sink, signal } = correctable(LEVELS).withSink<number>();
  const lines = record(price);
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(await price).toBe(2);
  expect(lines).toEqual(['write 1 weak', 'final 2 strong']);
  expect(signal.aborted).toBe(false);
});

test('COR-13: withSink: options → its deadline and its signal; what comes later is dropped', async () => {
  const clock = virtualClock();
  const events: CorrectableEvent[] = [];
  const late = correctable(LEVELS).withSink<number>({
    clock,
    timeoutMs: 5,
    onEvent: (event) => events.push(event),
  });
  const code = codeOf(late.correctable);
  await clock.advance(5);
  expect(await code).toBe('TIMEOUT');
  expect(late.signal.aborted).toBe(true);
  late.sink.view(1, 'strong');
  expect(events).toEqual([{ type: 'drop', reason: 'closed', level: 'strong' }]);

  const unwanted = correctable(LEVELS).withSink({ signal: AbortSignal.abort() });
  expect(await codeOf(unwanted.correctable)).toBe('ABORTED');
});

test('COR-13: of and from → one final view; the rejection is the cause', async () => {
  expect(await correctableFromValue(1)).toBe(1);
  expect(await correctableFromPromise(Promise.resolve(2))).toBe(2);
  const cause = new Error('no');
  expect(
    await correctableFromPromise(Promise.reject(cause)).catch((error: unknown) => error),
  ).toMatchObject({ cause });
  expect(await codeOf(correctableFromValue(Promise.resolve(1)))).toBe('INVALID_VALUE');
  await settled();
});
