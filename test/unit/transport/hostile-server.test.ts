/**
 * Servers that send lies or nonsense: the client keeps working, keeps nothing for them, and reports
 * nothing untrue.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isCorrectableError } from '../../../src/correctable/errors.ts';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../support/property-shares.ts';
import { quietContext, readX, SinkDouble, writeX } from '../../support/wire.ts';
import { settled, type FakePlatform } from './fake-platform.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';
import { scaleRuns } from '../../support/lane.ts';

const reported: unknown[] = [];

beforeEach(() => {
  reported.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void reported.push(warning));
});
afterEach(() => void vi.restoreAllMocks());

describe('answers that make no sense', () => {
  test.each([
    ['malformed', [1, 'view', 'strong', 0, 'v']],
    ['at a level that does not exist', [1, 'view', 30, 0, 'v']],
    ['a confirmation of nothing', [1, 'confirm', 1, 0]],
    ['a confirmation at a level that does not exist', [1, 'confirm', 7, 0]],
  ])(
    '%s → the read fails with PROTOCOL, the write with UNKNOWN: it may have been executed',
    async (_, row) => {
      for (const [operation, code] of [
        [readX, 'PROTOCOL'],
        [writeX, 'UNKNOWN'],
      ] as const) {
        const { platform, connection } = await startOpen();
        const sink = submit(connection, operation);
        const neighbor = submit(connection, operation);
        platform.tick();
        platform.socket.receive(row, [2, 'view', 1, 0, 'v']);
        expect(await sink.failure(0)).toMatchObject({ code });
        expect(await neighbor.call(0)).toMatchObject({ value: 'v' });
      }
    },
  );

  test('a view far beyond the others, then a confirmation of one in between → never a guess', async () => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection, readX);
    platform.tick();
    platform.socket.receive(
      [1, 'view', 0, 0, 'a'],
      [1, 'view', 0, Number.MAX_SAFE_INTEGER, 'b'],
      [1, 'confirm', 1, 1024],
    );
    expect(await sink.failure(2)).toMatchObject({ code: 'PROTOCOL' });
  });

  test('the same view is confirmed whatever its number', async () => {
    const { platform, connection } = await startOpen();
    const sink = submit(connection, readX);
    platform.tick();
    platform.socket.receive([1, 'view', 0, 5_000, 'a'], [1, 'confirm', 1, 5_000]);
    expect(sink.calls).toMatchObject([{ kind: 'write' }, { kind: 'confirm', seq: 0 }]);
  });

  test.each(['toString', '__proto__', 'NO_SUCH_CODE'])(
    'the code %s → FINAL_FAILED',
    async (code) => {
      const { platform, connection } = await startOpen();
      const sink = submit(connection, readX);
      platform.tick();
      platform.socket.receive([1, 'fail', code, 'why']);
      expect(await sink.failure(0)).toMatchObject({ code: 'FINAL_FAILED' });
    },
  );
});

describe('out of turn', () => {
  test('a welcome before the client has sent hello → ignored', async () => {
    const { platform, connection } = start({ token: () => new Promise<string>(() => {}) });
    submit(connection, writeX);
    await welcome(platform);
    expect(connection.state).toBe('handshaking');
    expect(platform.socket.rows('submit')).toEqual([]);
  });

  test('welcomed twice, by another site → nothing changes', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, writeX);
    platform.tick();
    await welcome(platform, { principal: 'eve', memoryId: 'n', expiresInMs: 1 });
    expect(platform.socket.rows('submit')).toHaveLength(1);
    expect(connection.state).toBe('open');
  });

  test('nothing but nonsense on a connection that is kept for its answers → it goes, the client stays', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, writeX);
    platform.tick();
    const old = platform.socket;
    old.receive([0, 'goaway', 30_000]);
    platform.advance(0);
    await welcome(platform);
    for (let n = 0; n < 8; n++) old.receiveText('{');
    expect(old.closedByClient).toBe(true);
    platform.tick();
    expect(platform.socket.rows('submit')).toHaveLength(1);
    expect(connection.state).toBe('open');
  });
});

const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 0, null, 'x', 2 ** 53, 1.5) },
);
const small = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 1 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(-1, 2, 30, 31, 2 ** 40, null, 'weak') },
);
const text = fc.constantFrom<unknown>(
  'OVERLOADED',
  'UNAVAILABLE',
  'ABORTED',
  'UNKNOWN',
  'constructor',
  '',
  7,
);
const welcomes = fc.record(
  {
    version: fc.constantFrom<unknown>(4, 3),
    levels: fc.constantFrom<unknown>(['weak', 'strong'], ['one']),
    memoryId: fc.constantFrom<unknown>('m', 'n', 5),
    principal: fc.constantFrom('p', 'q'),
    expiresInMs: fc.constantFrom(0, 1, 2 ** 40),
    limits: fc.constantFrom(
      { maxFrameBytes: 1 << 20, maxInFlight: 9 },
      { maxFrameBytes: 0, maxInFlight: 0 },
    ),
  },
  { requiredKeys: ['version', 'levels', 'memoryId', 'limits'] },
);
const row = fc.oneof(
  fc.tuple(id, fc.constant('view'), small, small, fc.anything(), fc.jsonValue(), fc.jsonValue()),
  fc.tuple(id, fc.constant('view'), small, small, fc.jsonValue()),
  fc.tuple(id, fc.constant('confirm'), small, small),
  fc.tuple(id, fc.constant('fail'), text, text, small),
  fc.tuple(fc.constant(0), fc.constant('goaway'), small),
  fc.tuple(fc.constant(0), fc.constant('renewed'), small),
  fc.tuple(small, fc.constantFrom('ping', 'pong')),
  fc.tuple(fc.constant(0), fc.constant('welcome'), welcomes),
  fc.anything(),
);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ rows: fc.array(row, { maxLength: 4 }), socket: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ welcome: fc.constantFrom({}, { memoryId: 'n' }, { principal: 'p' }) }),
  },
  { weight: 2, arbitrary: fc.record({ waitMs: fc.constantFrom(0, 100, 6_000, 40_000) }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.constantFrom(1006, 1001, 4402, 4429) }) },
  // The server goes away, does not take what it has got, and there is another.
  { weight: 2, arbitrary: fc.record({ leave: fc.constantFrom('without a word', 'refusing') }) },
  { weight: 3, arbitrary: fc.record({ cancel: fc.nat(9) }) },
  // For once the truth, of one that is under way.
  { weight: 3, arbitrary: fc.record({ answer: fc.nat(9) }) },
);

/** How often each operation was submitted on all sockets together, by its number. */
function submissions({ sockets }: FakePlatform): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const [id] of sockets.flatMap((socket) => socket.rows('submit')))
    counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

async function leave(platform: FakePlatform, how: string): Promise<void> {
  const { socket } = platform;
  socket.receive([0, 'goaway', 30_000]);
  platform.advance(0);
  if (platform.socket !== socket) await welcome(platform);
  if (how === 'refusing')
    socket.receive(...socket.rows('submit').map(([id]) => [id, 'fail', 'UNAVAILABLE', 'going']));
  else socket.lose();
}

function answer({ socket }: FakePlatform, back: number): void {
  const submit = socket.rows('submit').at(-1 - back);
  if (submit !== undefined && !socket.closedByClient)
    socket.receive([submit[0], 'view', 1, 0, 'v']);
}

const hostile = (note: Note): fc.IRawProperty<unknown> =>
  fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 30 }),
    fc.boolean(),
    async (steps, fair) => {
      const once = onceEach(note);
      const { platform, connection } = start({
        url: ['ws://one.test/', 'ws://two.test/'],
        token: () => 't',
      });
      const sinks: SinkDouble[] = [];
      const controllers: AbortController[] = [];
      const ask = (): void => {
        for (const operation of [readX, writeX]) {
          const sink = new SinkDouble();
          const controller = new AbortController();
          sinks.push(sink);
          controllers.push(controller);
          connection.submit(
            operation,
            ['weak', 'strong'],
            sink,
            quietContext({ signal: controller.signal }),
          );
        }
        platform.tick();
      };
      /** Those that were given up on, and how often they had been submitted by then. */
      const cancelled = new Map<number, number>();
      const cancel = (back: number): void => {
        const index = controllers.length - 1 - back;
        if (cancelled.has(index + 1) || index < 0) return;
        cancelled.set(index + 1, submissions(platform).get(index + 1) ?? 0);
        controllers[index]?.abort();
      };
      if (fair) await welcome(platform);
      for (const item of steps) {
        ask();
        const { socket } = platform;
        if ('rows' in item) {
          const of = platform.sockets.at(-1 - item.socket);
          if (of !== undefined && !of.closedByClient)
            of.receiveText(JSON.stringify(item.rows) ?? '');
        } else if ('welcome' in item) await welcome(platform, item.welcome);
        else if ('lose' in item) socket.lose(item.lose);
        else if ('cancel' in item) cancel(item.cancel);
        else if ('answer' in item) answer(platform, item.answer);
        else if ('leave' in item) await leave(platform, item.leave);
        else platform.advance(item.waitMs);
        await settled();
        platform.tick();
      }
      const closing = connection.close();
      platform.advance(1_000);
      await closing;
      expect(reported).toEqual([]);
      expect(platform.timers).toBe(0);
      const counts = submissions(platform);
      for (const [id, count] of cancelled)
        expect(counts.get(id) ?? 0, `operation ${id} was given up on`).toBe(count);
      for (const [index, { calls }] of sinks.entries()) {
        const failures = calls.filter(({ kind, level }) => kind === 'fail' && level === undefined);
        const finals = calls.filter(({ kind, level }) => kind !== 'fail' && level === 'strong');
        const ends = failures.length + finals.length;
        if (cancelled.has(index + 1)) expect(ends, `operation ${index}`).toBeLessThanOrEqual(1);
        else expect(ends, `operation ${index}`).toBe(1);
        for (const call of failures)
          expect(isCorrectableError(call.kind === 'fail' && call.error)).toBe(true);
        if (finals.length > 0) once('an operation is answered');
      }
      if (cancelled.size > 0) once('an operation is given up on');
      if ([...cancelled.values()].some((count) => count > 0))
        once('an operation is given up on that was submitted');
      if ([...counts.values()].some((count) => count > 1)) once('an operation is submitted again');
      if (platform.sockets.length > 2) once('several connections are lost');
    },
  );

test('anything, in any order → nothing is thrown, each operation ends once, none is submitted that was given up on', async () => {
  await fc.assert(hostile(unnoted), { numRuns: scaleRuns(250) });
});

testShares(
  'what comes in any order → leaves some operations to be answered, to be given up on and to be submitted again',
  async () => {
    const shares = await sharesOf(hostile, 60);
    for (const description of [
      'an operation is answered',
      'an operation is given up on',
      'an operation is given up on that was submitted',
      'an operation is submitted again',
      'several connections are lost',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.25);
    }
  },
);
