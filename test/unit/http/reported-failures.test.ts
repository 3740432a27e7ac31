/** Failures that a reply with views reports on the server, and what the client gets of them. */
// @rule HV-9, HV-10
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { tiered } from '../../../src/bindings/tiered/index.ts';
import { defineContract, isDomainError } from '../../../src/contract/index.ts';
import { fetchViews, respondWithViews, type RespondOptions } from '../../../src/http/index.ts';
import {
  correctable,
  createClient,
  CorrectableError,
  type Correctable,
} from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';

const LEVELS = ['cache', 'origin'] as const;
const create = () => correctable(LEVELS).withSink<string>({ timeoutMs: 10_000 });

let printed: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  printed = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  printed.mockRestore();
});

/** What a page gets of the Correctable. */
function request(served: Correctable<unknown, typeof LEVELS>, options: RespondOptions = {}) {
  const serve = (): Promise<Response> => respondWithViews(served, options);
  return fetchViews(LEVELS)('/stock', { fetch: serve as typeof fetch });
}

describe('sendViews and respondWithViews', () => {
  test('a failure after a view → onError gets its cause, and the client does not', async () => {
    const onError = vi.fn();
    const { correctable: served, sink } = create();
    const views = request(served, { onError });
    sink.view('old', 'cache');
    await views.when('cache');
    sink.fail(new Error('no route to db-7.internal'));
    const error = await views.catch((failure: unknown) => failure as CorrectableError);
    expect(error).toMatchObject({
      code: 'FINAL_FAILED',
      message: 'the operation failed on the server, which has reported the cause',
    });
    expect(JSON.stringify(error)).not.toContain('db-7');
    const [reported] = onError.mock.calls[0] as [CorrectableError];
    expect(onError).toHaveBeenCalledOnce();
    expect(reported.cause).toMatchObject({ message: 'no route to db-7.internal' });
    expect(printed).not.toHaveBeenCalled();
  });

  test('no onError → console.error', async () => {
    const { correctable: served, sink } = create();
    const cause = new Error('no route to db-7.internal');
    sink.fail(cause);
    await expect(request(served)).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    expect(printed).toHaveBeenCalledExactlyOnceWith(
      expect.any(String),
      expect.objectContaining({ cause }),
    );
  });

  test('a level that fails before the final view → reported once, and the client gets the view', async () => {
    const onError = vi.fn();
    const { correctable: served, sink } = create();
    sink.fail(new Error('cold cache'), 'cache');
    sink.view('new', 'origin');
    expect(await request(served, { onError })).toBe('new');
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'cold cache' }),
    );
  });

  describe('a store that does not answer', () => {
    const refused = new Error('connect ECONNREFUSED 10.0.0.1:5432');
    const createOutage = (server: string): CorrectableError =>
      new CorrectableError('UNAVAILABLE', `postgres: ${server}: no connection. Nothing was sent.`, {
        cause: new AggregateError([refused], ''),
      });

    test('→ one line is printed, with the innermost cause', async () => {
      const { correctable: served, sink } = create();
      sink.fail(createOutage('replicas[0]'), 'cache');
      sink.fail(createOutage('primary'));
      await expect(request(served)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(printed).toHaveBeenCalledExactlyOnceWith(
        'correctables: a reply with views failed: UNAVAILABLE: postgres: primary: no connection. Nothing was sent. Cause: connect ECONNREFUSED 10.0.0.1:5432',
      );
    });

    test('at one level, before the final view → the line names the level, and that reads go on', async () => {
      const { correctable: served, sink } = create();
      sink.fail(createOutage('replicas[0]'), 'cache');
      sink.view('new', 'origin');
      expect(await request(served)).toBe('new');
      expect(printed).toHaveBeenCalledExactlyOnceWith(
        'correctables: the level "cache" failed, and reads go on at the next level: UNAVAILABLE: postgres: replicas[0]: no connection. Nothing was sent. Cause: connect ECONNREFUSED 10.0.0.1:5432',
      );
    });

    test('→ onError gets each failure', async () => {
      const onError = vi.fn();
      const { correctable: served, sink } = create();
      sink.fail(createOutage('replicas[0]'), 'cache');
      sink.fail(createOutage('primary'));
      await expect(request(served, { onError })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(onError).toHaveBeenCalledTimes(2);
    });
  });

  test('a refusal → onError gets it; without one, nothing is printed', async () => {
    const onError = vi.fn();
    for (const options of [{ onError }, {}]) {
      const { correctable: served, sink } = create();
      sink.fail(new CorrectableError('FORBIDDEN', 'not yours'));
      await expect(request(served, options)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(onError).toHaveBeenCalledOnce();
    expect(printed).not.toHaveBeenCalled();
  });

  test('a client that leaves → no failure', async () => {
    const onError = vi.fn();
    const client = new AbortController();
    const { correctable: served } = create();
    const reply = respondWithViews(served, {
      request: { headers: {}, signal: client.signal },
      onError,
    });
    client.abort();
    expect((await reply).status).toBe(503);
    expect(onError).not.toHaveBeenCalled();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no disk');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no disk'))],
  ])('an onError that %s → the reply is sent, and its error is printed', async (_name, onError) => {
    const { correctable: served, sink } = create();
    sink.fail(new Error('down'));
    await expect(request(served, { onError })).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    expect(printed).toHaveBeenCalledWith(
      'onError failed:',
      expect.objectContaining({ message: 'no disk' }),
    );
  });
});

describe('tiered', () => {
  const down = async (): Promise<never> => {
    throw new Error('down');
  };

  test('each failing tier → onError gets its error, the level and the operation', async () => {
    const onError = vi.fn();
    const store = createClient(tiered(LEVELS, { cache: down, origin: () => 'new' }, { onError }));
    expect(await store.invoke(get('a'))).toBe('new');
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message: 'down' }), {
      level: 'cache',
      operation: expect.objectContaining({ name: 'get', key: 'a' }) as unknown,
    });
    expect(printed).not.toHaveBeenCalled();
    await store.close();
  });

  test('no onError → console.error, once, also behind sendViews', async () => {
    const store = createClient(tiered(LEVELS, { cache: () => 'old', origin: down }));
    await expect(request(store.invoke(get('a')))).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    expect(printed).toHaveBeenCalledExactlyOnceWith(
      'tiered: the tier "origin" failed in get:',
      expect.objectContaining({ message: 'down' }),
    );
    await store.close();
  });

  test('a tier that fails because its caller has left → no failure', async () => {
    const onError = vi.fn();
    const aborted = vi.fn();
    const origin = (
      _operation: unknown,
      { signal }: { readonly signal: AbortSignal },
    ): Promise<never> =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
          aborted();
        }),
      );
    const store = createClient(tiered(LEVELS, { cache: () => 'old', origin }, { onError }));
    const read = store.invoke(get('a'));
    await read.when('cache');
    read.cancel();
    await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
    expect(aborted).toHaveBeenCalledOnce();
    await new Promise((resolve) => setImmediate(resolve));
    expect(onError).not.toHaveBeenCalled();
    await store.close();
  });
});

describe('isDomainError', () => {
  const bank = defineContract('bank', {
    withdraw: {
      access: 'write',
      args: z.object({ amount: z.number() }),
      result: z.null(),
      errors: { notEnough: z.object({ balance: z.number() }) },
    },
    lend: {
      access: 'write',
      args: z.null(),
      result: z.null(),
      errors: { notEnough: z.object({ rate: z.number() }) },
    },
  });

  test.each([
    ['before a view', undefined],
    ['after a view', 'old'],
  ])(
    'an error of the contract that a server sends %s → is one, typed, of its operation alone',
    async (_name, early) => {
      const { correctable: served, sink } = create();
      const domain = { name: 'notEnough', data: { balance: 3 }, operation: 'withdraw' };
      const views = request(served);
      if (early) {
        sink.view(early, 'cache');
        await views.when('cache');
      }
      sink.fail(new CorrectableError('DOMAIN', 'withdraw: notEnough', { domain }));
      const error: unknown = await views.catch((failure: unknown) => failure);
      expect(
        isDomainError(error, bank.operations.withdraw, 'notEnough') && error.domain.data.balance,
      ).toBe(3);
      expect(isDomainError(error, bank.operations.lend)).toBe(false);
      expect(error).toMatchObject({ operation: 'GET /stock' });
    },
  );

  test('an error without the name of its operation → is one of each operation that declares it', async () => {
    const { correctable: served, sink } = create();
    sink.fail(
      new CorrectableError('DOMAIN', 'no', { domain: { name: 'notEnough', data: { balance: 3 } } }),
    );
    const error: unknown = await request(served).catch((failure: unknown) => failure);
    expect(isDomainError(error, bank.operations.withdraw)).toBe(true);
  });
});
