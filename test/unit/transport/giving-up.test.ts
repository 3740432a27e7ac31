/** Operations that are cancelled before they were sent, and the status that their context has. */
import { describe, expect, test } from 'vitest';
import type { InvocationContext } from '../../../src/correctable/binding.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

function cancellable(): { readonly context: InvocationContext; readonly cancel: () => void } {
  const controller = new AbortController();
  return { context: quietContext({ signal: controller.signal }), cancel: () => controller.abort() };
}

describe('given up before it was sent', () => {
  test.each([
    ['write', writeX],
    ['read', readX],
  ])('%s → never sent later, and counts no more', async (_, operation) => {
    const { platform, connection } = start({ maxInFlight: 1 });
    const { context, cancel } = cancellable();
    submit(connection, operation, context);
    expect(context.submissionStatus?.mayHaveBeenSent).toBe(false);
    cancel();
    const next = submit(connection, { ...writeX, args: 'next' });
    await welcome(platform);
    expect(platform.socket.rows('submit').map((row) => row[5])).toEqual(['next']);
    expect(platform.socket.rows('cancel')).toEqual([]);
    expect(next.calls).toEqual([]);
  });

  test('cancelled before it was submitted → not sent', async () => {
    const { platform, connection } = start();
    submit(connection, writeX, quietContext({ signal: AbortSignal.abort() }));
    await welcome(platform);
    expect(platform.socket.rows('submit')).toEqual([]);
  });
});

describe('the status of an operation', () => {
  test('sent, lost, sent again → it may have left from the first time on', async () => {
    const { platform, connection } = start();
    const context = quietContext();
    submit(connection, writeX, context);
    const seen = [context.submissionStatus?.mayHaveBeenSent];
    await welcome(platform);
    seen.push(context.submissionStatus?.mayHaveBeenSent);
    expect(context.submissionStatus?.blockedBy).toBeUndefined();
    platform.socket.lose();
    seen.push(context.submissionStatus?.mayHaveBeenSent);
    expect(context.submissionStatus?.blockedBy).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(seen).toEqual([false, true, true]);
  });

  test('no connection → names the url, the time, the number of attempts and the cause', () => {
    const { platform, connection } = start();
    const context = quietContext();
    submit(connection, readX, context);
    expect(context.submissionStatus?.blockedBy?.message).toBe(
      'no connection to ws://server.test/ireland for 0.0 s (1 attempt): no attempt has ended yet',
    );
    for (let n = 0; n < 3; n++) {
      platform.socket.onerror?.({ message: 'connect ECONNREFUSED 127.0.0.1:1' } as never);
      platform.socket.lose();
      platform.advance(5_000);
    }
    expect(context.submissionStatus?.blockedBy?.message).toBe(
      'no connection to ws://server.test/ireland for 15.0 s (4 attempts): connect ECONNREFUSED 127.0.0.1:1 (1006)',
    );
  });

  test('its server goes, and there is no other yet → nothing is in the way of what that still answers', async () => {
    const { platform, connection } = await startOpen();
    const [under, waiting] = [quietContext(), quietContext()];
    submit(connection, readX, under);
    platform.tick();
    platform.socket.receive([0, 'goaway', 30_000]);
    submit(connection, readX, waiting);
    expect(under.submissionStatus?.blockedBy).toBeUndefined();
    expect(waiting.submissionStatus?.blockedBy).toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('several sites → names the site that the cause belongs to, not the one that is tried now', () => {
    const { platform, connection } = start({ url: ['ws://one.test/', 'ws://two.test/'] });
    const context = quietContext();
    submit(connection, readX, context);
    for (const url of ['ws://one.test/', 'ws://two.test/']) {
      platform.socket.onerror?.({ message: `no server at ${url}` } as never);
      platform.socket.lose();
      platform.advance(200);
      expect(platform.socket.url).not.toBe(url);
      const { message, cause } = context.submissionStatus?.blockedBy ?? {};
      expect(message).toMatch(new RegExp(`to ${url} for .*: no server at ${url} `));
      expect(cause).toMatchObject({
        code: 'UNAVAILABLE',
        message: `no connection to ${url}: no server at ${url} (1006)`,
      });
    }
  });

  test('connection lost after a while → the time counts from then', async () => {
    const { platform, connection } = await startOpen();
    platform.advance(10_000);
    const context = quietContext();
    platform.socket.lose(1001, 'the server is shutting down');
    submit(connection, readX, context);
    platform.advance(2_000);
    expect(context.submissionStatus?.blockedBy?.message).toMatch(
      /^no connection to ws:.* for 2\.0 s \(1 attempt\): the server is shutting down \(1001\)$/,
    );
  });

  test.each([
    ['Unexpected server response: 404', { message: 'Unexpected server response: 404' }],
    [
      'connect ECONNREFUSED ::1:1',
      { message: '', error: { errors: [{ message: 'connect ECONNREFUSED ::1:1' }] } },
    ],
    ['ECONNREFUSED', { message: '', error: { code: 'ECONNREFUSED' } }],
    ['closed with 1006', {}],
  ])('the platform reports %s in some shape → the cause has it', (reason, event) => {
    const { platform, connection } = start();
    const context = quietContext();
    submit(connection, readX, context);
    platform.socket.onerror?.(event as never);
    platform.socket.lose();
    expect(context.submissionStatus?.blockedBy?.message).toContain(`: ${reason}`);
  });
});

test('answered → what the caller keeps does not keep the operation', async () => {
  const { platform, connection } = await startOpen();
  const context = quietContext();
  submit(connection, writeX, context);
  platform.tick();
  expect(context.submissionStatus).toBeDefined();
  platform.socket.receive([1, 'view', 1, 0, 'v']);
  expect(context.submissionStatus).toBeUndefined();
});

describe('closed by the application', () => {
  test('in flight → failures that name the operation', async () => {
    const { connection } = start();
    const sink = submit(connection, writeX);
    await connection.close();
    expect(await sink.failure(0)).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'put: the connection was closed by the application; nothing was done',
    });
  });

  test('asked afterwards → refused, not retryable: this connection does not come back', async () => {
    const { connection } = start();
    const closing = connection.close();
    const rejection = { code: 'UNAVAILABLE', retryable: false };
    expect(await submit(connection, writeX).failure(0)).toMatchObject(rejection);
    await closing;
    expect(await submit(connection).failure(0)).toMatchObject(rejection);
  });

  test('after the server has refused it → the reason is still the refusal', async () => {
    const { platform, connection } = await startOpen();
    platform.socket.lose(4401, 'the token was refused');
    await connection.close();
    expect(await submit(connection).failure(0)).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
