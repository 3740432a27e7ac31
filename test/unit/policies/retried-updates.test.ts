/**
 * COR-15: a write that may have taken effect is never retried, and derived Correctables show its
 * state between attempts.
 */
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../src/index.ts';
import { all, createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { errorOf, failure, retry, scripted, setUp, STEP_MS } from './support.ts';

describe('COR-15: what may have taken effect, or will fail again', () => {
  test.each(['UNKNOWN', 'FORBIDDEN', 'FINAL_FAILED', 'PROTOCOL'] satisfies ErrorCode[])(
    '%s → one attempt, and its error',
    async (code) => {
      const { clock, binding, client } = setUp({ retry });
      const error = errorOf(client.invoke(put('k', 1)));
      const failed = failure(code);
      (await binding.next()).fail(failed);
      await clock.runAll();
      expect(await error).toMatchObject({
        code,
        message: failed.message,
        cause: failed,
        operation: 'put',
      });
      expect(binding.calls).toHaveLength(1);
      expect(client.stats.retried).toBe(0);
    },
  );

  test('an error of another kind, a submission that ends without a final → one attempt', async () => {
    for (const [work, code] of [
      [() => Promise.reject(new Error('disk')), 'FINAL_FAILED'],
      [() => Promise.resolve(), 'CLOSED_WITHOUT_FINAL'],
    ] as const) {
      const clock = virtualClock();
      const error = errorOf(createClient(scripted(work), { clock, retry }).invoke(put('k', 1)));
      expect(await error).toMatchObject({ code });
    }
  });

  test('a write is cancelled during an attempt → UNKNOWN; the attempt is let go', async () => {
    const { clock, binding, client } = setUp({ retry });
    const write = client.invoke(put('k', 1));
    (await binding.next()).fail(failure());
    await clock.advance(STEP_MS);
    const { signal } = (await binding.next()).context;
    write.cancel('left');
    expect(await errorOf(write)).toMatchObject({
      code: 'UNKNOWN',
      retryable: false,
      cause: 'left',
    });
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe(await errorOf(write));
  });

  test('a write is cancelled between two attempts → ABORTED: nothing was done, nor is it again', async () => {
    const { clock, binding, client } = setUp({ retry });
    const write = client.invoke(put('k', 1));
    const saved = all([write.map(() => 'saved')]);
    saved.onError(() => 0);
    (await binding.next()).fail(failure('CONFLICT'));
    write.cancel();
    expect(await errorOf(write)).toMatchObject({ code: 'ABORTED' });
    expect((await errorOf(write)).message).toBe('put "k": cancelled: the store is busy');
    expect(await errorOf(saved)).toMatchObject({ code: 'ABORTED' });
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1_000);
    expect(binding.calls).toHaveLength(1);
  });

  describe('a write waits for its next attempt, and what it is a part of ends', () => {
    test('a join of which another part fails → UNKNOWN, and the write is done', async () => {
      const { clock, binding, client } = setUp({ retry });
      const write = client.invoke(put('k', 1));
      const page = errorOf(all([write, client.invoke(get('other'), { retry: false })]));
      const [first, read] = [await binding.next(), await binding.next()];
      first.fail(failure('OVERLOADED'));
      read.fail(failure());
      expect(await page).toMatchObject({ code: 'UNKNOWN', retryable: false });
      await clock.advance(STEP_MS);
      (await binding.next()).view('done', 'strong');
      expect(await write).toBe('done');
    });

    test('what is mapped from it is cancelled while others listen → UNKNOWN', async () => {
      const { clock, binding, client } = setUp({ retry });
      const write = client.invoke(put('k', 1)).onFinal(() => 0);
      const mapped = write.map(String);
      (await binding.next()).fail(failure());
      mapped.cancel();
      expect(await errorOf(mapped)).toMatchObject({ code: 'UNKNOWN' });
      await clock.advance(STEP_MS);
      (await binding.next()).view('done', 'strong');
      expect(await write).toBe('done');
    });

    test('a chain that stepped onto it from a preliminary view, without undo → UNKNOWN at once', async () => {
      const { binding, client } = setUp({ retry });
      const write = client.invoke(put('copy', 1));
      (await binding.next()).fail(failure());
      const error = errorOf(client.invoke(get('k')).chain(() => write));
      (await binding.next()).view(1, 'weak');
      expect(await error).toMatchObject({
        code: 'UNKNOWN',
        message: expect.stringContaining('needs an undo'),
      });
      write.cancel();
    });
  });

  test('the binding reports that an attempt was never sent → the error has that', async () => {
    const { clock, binding, client } = setUp({ retry });
    const write = client.invoke(put('k', 1), { timeoutMs: 50 });
    const error = errorOf(write);
    (await binding.next()).fail(failure());
    await clock.advance(STEP_MS);
    (await binding.next()).context.submissionStatus = {
      mayHaveBeenSent: false,
      blockedBy: failure('UNAVAILABLE'),
    };
    await clock.advance(50);
    expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect((await error).message).toBe(
      'put "k", attempt 2 of 3: no final view in time; it was not sent: the store is busy',
    );
  });
});
