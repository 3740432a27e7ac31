/** COR-15: trying again, in order, in time, and never what may have taken effect. */
import { describe, expect, test, vi } from 'vitest';
import { CorrectableError, createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { retryPolicy, dedupeReads } from '../../../src/policies/index.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { record, settled } from '../correctable/support.ts';
import { errorOf, failure, retry, scripted, setUp, STEP_MS } from './support.ts';

describe('COR-15: an operation fails with a retryable error', () => {
  test.each(['read', 'write'] as const)(
    '%s → it is submitted again, after the delay and not before',
    async (effect) => {
      const { clock, binding, client } = setUp({ retry });
      const done = client.invoke<unknown>(effect === 'read' ? get('k') : put('k', 1));
      (await binding.next()).fail(failure());
      await clock.advance(STEP_MS - 1);
      expect(binding.calls).toHaveLength(1);
      await clock.advance(1);
      (await binding.next()).fail(failure('OVERLOADED'), 'strong');
      await clock.advance(2 * STEP_MS - 1);
      expect(binding.calls).toHaveLength(2);
      await clock.advance(1);
      (await binding.next()).view('there', 'strong');
      expect(await done).toBe('there');
      expect(client.stats.retried).toBe(2);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  test('and its caller changes its arguments meanwhile → it is not submitted again', async () => {
    const { clock, binding, client } = setUp({ retry });
    const args = { account: 'a', amount: 5 };
    const error = errorOf(client.invoke({ name: 'pay', access: 'write', args }));
    (await binding.next()).fail(failure());
    args.amount = 500;
    await clock.advance(1_000);
    expect(await error).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the store is busy'),
    });
    expect((await error).message).toContain('its arguments were changed');
    expect(binding.calls).toHaveLength(1);
  });

  test('each time → the last error, which counts the attempts', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(get('k')));
    for (let attempt = 1; attempt <= 3; attempt++) {
      (await binding.next()).fail(
        new CorrectableError('OVERLOADED', 'busy', { retryAfterMs: attempt }),
      );
      await clock.advance(1_000);
    }
    expect(await error).toMatchObject({ code: 'OVERLOADED', retryable: true, retryAfterMs: 3 });
    expect((await error).message).toBe('attempt 3 of 3: busy');
    expect((await error).cause).toMatchObject({ message: 'busy' });
    expect(binding.calls).toHaveLength(3);
  });

  test('by throwing, or by the promise that it returned → it is submitted again too', async () => {
    const clock = virtualClock();
    const attempts: (() => void | Promise<void>)[] = [
      () => {
        throw failure();
      },
      () => Promise.reject(failure()),
      () => {},
    ];
    const binding = scripted(() => attempts.shift()!());
    const read = createClient(binding, { clock, retry }).invoke(get('k'), { timeoutMs: 1_000 });
    await clock.advance(3 * STEP_MS);
    expect(attempts).toEqual([]);
    expect(read.state).toBe('pending');
    read.cancel();
  });

  test('the store sends retryAfterMs → the delay is no shorter', async () => {
    const { clock, binding, client } = setUp({ retry });
    client.invoke(get('k')).onError(() => 0);
    (await binding.next()).fail(new CorrectableError('OVERLOADED', 'busy', { retryAfterMs: 500 }));
    await clock.advance(499);
    expect(binding.calls).toHaveLength(1);
    await clock.advance(1);
    expect(binding.calls).toHaveLength(2);
  });

  test('by default three attempts, with delays drawn from the upper half of 100 and 200 ms', async () => {
    for (const [random, initialDelayMs, secondMs] of [
      [0, 50, 100],
      [0.5, 75, 150],
    ] as const) {
      const { clock, binding, client } = setUp({ retry: retryPolicy({ random: () => random }) });
      client.invoke(get('k')).onError(() => 0);
      for (const delayMs of [initialDelayMs, secondMs]) {
        binding.calls.at(-1)!.fail(failure());
        const count = binding.calls.length;
        await clock.advance(delayMs - 1);
        expect(binding.calls).toHaveLength(count);
        await clock.advance(1);
        expect(binding.calls).toHaveLength(count + 1);
      }
      binding.calls.at(-1)!.fail(failure());
      await clock.runAll();
      expect(binding.calls).toHaveLength(3);
    }
  });

  test('a weak level alone → the operation goes on, nothing is submitted again', async () => {
    const { clock, binding, client } = setUp({ retry });
    const read = client.invoke(get('k'));
    const call = await binding.next();
    call.fail(failure(), 'weak');
    await clock.runAll();
    call.view(1, 'strong');
    expect(await read).toBe(1);
    expect(binding.calls).toHaveLength(1);
  });
});

describe('COR-15: views', () => {
  test('of a failed attempt → stay; the next attempt adds stronger ones', async () => {
    const { clock, binding, client } = setUp({ retry });
    const read = client.invoke(get<string>('k'));
    const lines = record(read);
    const first = await binding.next();
    first.view('old', 'weak');
    first.fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    second.view('new', 'weak');
    second.view('new', 'causal');
    second.view('new', 'strong');
    expect(lines).toEqual(['write old weak', 'write new causal', 'final new strong']);
    expect(client.drops).toMatchObject({ repeated: 1 });
  });

  test('confirmed by number → the values of this attempt, not of the one before', async () => {
    const { clock, binding, client } = setUp({ retry });
    const read = client.invoke(get<string>('k'));
    const first = await binding.next();
    expect(first.view('old', 'weak')).toBe(0);
    first.fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    expect(second.view('new', 'weak')).toBe(0);
    second.confirm('strong', 0, { version: 7 });
    expect(await read.settle()).toMatchObject({
      value: 'new',
      level: 'strong',
      version: 7,
      final: true,
    });
  });

  test('what comes late of an attempt that failed → no effect but a count', async () => {
    const { clock, binding, client } = setUp({ retry });
    const read = client.invoke(get<string>('k'));
    const first = await binding.next();
    first.fail(failure());
    await clock.advance(STEP_MS);
    first.view('ghost', 'strong');
    first.fail(new Error('ghost'));
    expect(read.state).toBe('pending');
    expect(client.drops.closed).toBe(2);
    (await binding.next()).view('there', 'strong');
    expect(await read).toBe('there');
  });

  test('the last error → has the best view of all attempts', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(get('k')));
    const first = await binding.next();
    first.view('seen', 'causal');
    first.fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    second.view('weaker', 'weak');
    second.fail(failure('FORBIDDEN'));
    expect(await error).toMatchObject({
      code: 'FORBIDDEN',
      lastView: { value: 'seen', level: 'causal' },
    });
  });

  test('the last error → has the failures of single levels, those that were too late among them', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(get('k'), { levelTimeoutsMs: { weak: 15 } }));
    const first = await binding.next();
    first.fail(new Error('is up again'), 'causal');
    first.fail(failure());
    await clock.advance(20);
    const second = await binding.next();
    second.fail(new Error('is down'), 'causal');
    second.fail(failure('FORBIDDEN'), 'strong');
    const { levelErrors } = await error;
    expect(levelErrors).toMatchObject({
      weak: { code: 'TIMEOUT' },
      causal: { message: 'is down' },
      strong: { code: 'FORBIDDEN' },
    });
  });
});

describe('COR-15: time', () => {
  test('the limit passes during a later attempt → TIMEOUT of the whole, which counts the attempts', async () => {
    const { clock, binding, client } = setUp({ retry, timeoutMs: 100 });
    const error = errorOf(client.invoke(get('k')));
    await clock.advance(60);
    const first = await binding.next();
    expect(first.context.deadlineAt).toBe(100);
    first.fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    expect(second.context.deadlineAt).toBe(100);
    const { signal } = second.context;
    await clock.advance(29);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(await error).toMatchObject({ code: 'TIMEOUT' });
    expect((await error).message).toBe('get "k", attempt 2 of 3: no final view in time');
    expect(signal.aborted).toBe(true);
  });

  test('the next attempt would begin at the limit or after it → it is not waited for', async () => {
    const { clock, binding, client } = setUp({ retry, timeoutMs: 30 });
    const failed = failure();
    const errors = [1, 2].map(() => errorOf(client.invoke(get('k'))));
    await clock.advance(20);
    (await binding.next()).fail(failed);
    expect(await errors[0]).toMatchObject({ code: failed.code, message: failed.message });
    (await binding.next()).fail(
      new CorrectableError('OVERLOADED', 'later', { retryAfterMs: 60_000 }),
    );
    expect(await errors[1]).toMatchObject({ message: 'later' });
    await settled();
    expect(clock.now()).toBe(20);
  });

  test('the limit of the final level passes between two attempts → UNAVAILABLE, and no more of them', async () => {
    const { clock, binding, client } = setUp({
      retry: retryPolicy({ backoff: { delayMs: () => 50 } }),
    });
    const error = errorOf(client.invoke(put('k', 1), { levelTimeoutsMs: { strong: 20 } }));
    (await binding.next()).fail(failure());
    await clock.advance(20);
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', level: 'strong', retryable: true });
    expect(clock.pendingTimers).toBe(0);
    expect(binding.calls).toHaveLength(1);
  });

  test('the signal of invoke aborts between two attempts → ABORTED, and the timer is gone', async () => {
    const { clock, binding, client } = setUp({ retry });
    const page = new AbortController();
    const error = errorOf(client.invoke(get('k'), { signal: page.signal }));
    (await binding.next()).fail(failure());
    expect(clock.pendingTimers).toBe(1);
    page.abort('left');
    expect(await error).toMatchObject({ code: 'ABORTED', cause: 'left' });
    expect(clock.pendingTimers).toBe(0);
  });

  test('the client closes between two attempts → UNAVAILABLE at once, not retryable', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(put('k', 1)));
    (await binding.next()).fail(failure());
    await client.close();
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
    expect(clock.pendingTimers).toBe(0);
    expect(binding.calls).toHaveLength(1);
  });

  test('an attempt fails since the client closes → it is the last', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(get('k')));
    const call = await binding.next();
    await client.close();
    call.fail(failure());
    expect(await error).toMatchObject({ message: 'the store is busy' });
    expect(clock.pendingTimers).toBe(0);
  });
});

test.each([
  ['by itself', {}],
  ['shared', { dedupeReads: dedupeReads() }],
])(
  'a view is taken early of an operation %s → the wait for an attempt keeps no process alive',
  async (_, options) => {
    const { clock, binding, client } = setUp({ retry, ...options });
    const retained: boolean[] = [];
    vi.spyOn(clock, 'setTimer').mockImplementation(() => {
      const at = retained.push(true) - 1;
      return { cancel: () => {}, setRef: (isHeld) => void (retained[at] = isHeld) };
    });
    const [before, after] = [client.invoke(get('before')), client.invoke(get('after'))];
    const calls = [await binding.next(), await binding.next()];
    for (const call of calls) call.view('cached', 'weak');
    calls[0]!.fail(failure());
    expect(retained).toEqual([true]);
    for (const read of [before, after]) await read.settle({ enough: () => true });
    calls[1]!.fail(failure());
    expect(retained).toEqual([false, false]);
    before.onFinal(() => 0);
    expect(retained).toEqual([true, false]);
    before.cancel();
    after.cancel();
  },
);

describe('COR-15: policies', () => {
  test('for one call → instead of the client’s; false → one attempt', async () => {
    const once = setUp({ retry });
    const error = errorOf(once.client.invoke(get('k'), { retry: false }));
    (await once.binding.next()).fail(failure());
    expect(await error).toMatchObject({ message: 'the store is busy' });

    const { clock, binding, client } = setUp({});
    const twice = retryPolicy({ attempts: 2, backoff: { delayMs: () => 1 } });
    const read = errorOf(client.invokeWeak(get('k'), { retry: twice }));
    (await binding.next()).fail(failure());
    await clock.advance(1);
    (await binding.next()).fail(failure());
    expect((await read).message).toBe('attempt 2 of 2: the store is busy');
    const plain = errorOf(client.invokeWeak(get('k')));
    (await binding.next()).fail(failure());
    expect((await plain).message).toBe('the store is busy');
  });

  test('the backoff gives up → no more attempts', async () => {
    const { binding, client, uncaught } = setUp({
      retry: retryPolicy({ backoff: { delayMs: () => undefined } }),
    });
    const error = errorOf(client.invoke(get('k')));
    (await binding.next()).fail(failure());
    expect(await error).toMatchObject({ message: 'the store is busy' });
    expect(uncaught).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['gives no number', () => Number.NaN],
    ['gives less than nothing', () => -1],
  ])(
    'the backoff %s → reported to onUncaught, and no more attempts',
    async (_how, delayMs: () => number) => {
      const { clock, binding, client, uncaught } = setUp({
        retry: retryPolicy({ backoff: { delayMs } }),
      });
      const error = errorOf(client.invoke(get('k')));
      (await binding.next()).fail(failure());
      expect(await error).toMatchObject({ message: 'the store is busy' });
      expect(uncaught).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  test('each attempt → the session, the trace and the levels of the call', async () => {
    const { clock, binding, client } = setUp({ retry, trace: () => 'trace' });
    const session = client.session();
    client.invoke(get('k'), { session, levels: ['weak', 'strong'] }).onError(() => 0);
    (await binding.next()).fail(failure());
    await clock.advance(STEP_MS);
    const [first, second] = binding.calls;
    expect(second!.levels).toEqual(['weak', 'strong']);
    expect(first!.context.session).toBeDefined();
    expect(second!.context.session).toBe(first!.context.session);
    expect(second!.context.trace).toBe('trace');
  });
});

describe('COR-15: what the binding reports for an attempt', () => {
  test('a weaker view is the final one → it is, with its version', async () => {
    const { binding, client } = setUp({ retry });
    const value = client.invoke(get('k'));
    const first = await binding.next();
    first.view('seen', 'weak', { version: 1 });
    first.view('seen', 'causal', { version: 2, final: true });
    expect(value.latest).toMatchObject({ level: 'causal', version: 2, final: true });
    const confirmed = client.invoke(get('k'));
    const second = await binding.next();
    second.view('seen', 'weak', { version: 1 });
    second.confirm('causal', 0, { version: 3, final: true });
    expect(confirmed.latest).toMatchObject({ level: 'causal', version: 3, final: true });
  });

  test('a version older than one of the attempt before → dropped; a final view of it has `regressed`', async () => {
    const { clock, binding, client } = setUp({ retry });
    const read = client.invoke(get('k'));
    const first = await binding.next();
    first.view('new', 'weak', { version: 2 });
    first.fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    second.view('old', 'causal', { version: 1 });
    expect(read.latest).toMatchObject({ value: 'new' });
    second.view('old', 'strong', { version: 1 });
    expect(await read.settle()).toMatchObject({ value: 'old', regressed: true });
  });

  test('the service rejects the last attempt → the error has all details of the service', async () => {
    const { clock, binding, client } = setUp({ retry });
    const error = errorOf(client.invoke(put('k', 1)));
    (await binding.next()).fail(failure());
    await clock.advance(STEP_MS);
    const domain = { name: 'soldOut', data: { left: 0 } };
    (await binding.next()).fail(
      new CorrectableError('DOMAIN', 'sold out', { domain, field: 'args.seat' }),
    );
    expect(await error).toMatchObject({
      code: 'DOMAIN',
      domain,
      field: 'args.seat',
      retryable: false,
    });
  });
});

describe('COR-15: who waits between two attempts', () => {
  test('the client closes during a later attempt → the binding decides the outcome', async () => {
    const { clock, binding, client } = setUp({ retry });
    const write = client.invoke<unknown>(put('k', 1));
    (await binding.next()).fail(failure());
    await clock.advance(STEP_MS);
    const second = await binding.next();
    await client.close();
    expect(write.state).toBe('pending');
    second.view('done', 'strong');
    expect(await write).toBe('done');
  });
});

describe('COR-15: another principal', () => {
  test.each(['signs in', 'cannot be read'])(
    '%s between two attempts → the first has failed, none is made for the other',
    async (description) => {
      const { clock, binding, client, uncaught } = setUp({ retry });
      const page: { user: string | undefined } = { user: 'ann' };
      binding.principal = () => page.user ?? raise();
      const error = errorOf(client.invoke(put('k', 1)));
      (await binding.next()).fail(failure());
      page.user = description === 'signs in' ? 'bob' : undefined;
      await clock.advance(1_000);
      expect(await error).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/store is busy$/) as string,
      });
      expect(binding.calls).toHaveLength(1);
      expect(client.stats.retried).toBe(0);
      expect(uncaught).toHaveLength(description === 'signs in' ? 0 : 1);
    },
  );
});

function raise(): never {
  throw new TypeError('user is null');
}
