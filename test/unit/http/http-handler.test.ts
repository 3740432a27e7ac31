/** A contract served over HTTP: the requests that it takes, and what a page gets of each. */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import express from 'express';
import { Hono } from 'hono';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { http } from '../../../src/bindings/http/index.ts';
import { memory } from '../../../src/bindings/memory/index.ts';
import { tiered } from '../../../src/bindings/tiered/index.ts';
import {
  createHandler,
  defineContract,
  isDomainError,
  keyValueOperations,
} from '../../../src/contract/index.ts';
import type { Binding, CorrectableError, Principal } from '../../../src/index.ts';
import { createClient } from '../../../src/index.ts';
import { httpHandler, type HttpHandler, type HttpHandlerOptions } from '../../../src/http/index.ts';

const bikes = defineContract('bikes', {
  bike: {
    access: 'read',
    args: z.object({ id: z.int() }),
    result: z.object({ id: z.int(), name: z.string() }),
  },
  rename: {
    access: 'write',
    args: z.object({ id: z.int(), name: z.string().min(1) }),
    result: z.null(),
    errors: { taken: z.object({ by: z.string() }) },
  },
});
const LEVELS = ['replica', 'primary'] as const;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A shop with one bike, whose replica never learns of a change. */
function createShop(): Binding<typeof LEVELS> {
  const names = new Map([[7, 'Ada']]);
  const stale = createHandler(bikes, { bike: ({ id }) => ({ id, name: 'Ada' }) }, () => undefined);
  return tiered(
    LEVELS,
    {
      replica: stale,
      primary: createHandler(bikes, {
        bike: ({ id }) => ({ id, name: names.get(id) ?? '' }),
        rename: ({ id, name }, { errors }) => {
          if (name === 'Bob') throw errors.taken({ by: 'Bob' });
          names.set(id, name);
          return null;
        },
      }),
    },
    { onError: () => {} },
  );
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

const serve = (handle: HttpHandler): Promise<string> =>
  listen(createServer((request, response) => void handle(request, response)));

async function open(options: HttpHandlerOptions = {}, binding: Binding = createShop()) {
  const url = await serve(httpHandler(bikes, binding, { onError: () => {}, ...options }));
  return { url, client: createClient(http(bikes, { url, levels: LEVELS })) };
}

describe('a page', () => {
  test('gets every view of a read, with its level', async () => {
    const { client } = await open();
    await client.invoke(bikes.rename({ id: 7, name: 'Eve' }));
    const views: unknown[] = [];
    for await (const { level, value, final } of client.invoke(bikes.bike({ id: 7 })))
      views.push([level, value, final]);
    expect(views).toEqual([
      ['replica', { id: 7, name: 'Ada' }, false],
      ['primary', { id: 7, name: 'Eve' }, true],
    ]);
  });

  test('gets the levels that it requests alone', async () => {
    const { client } = await open();
    const { level } = await client.invokeWeak(bikes.bike({ id: 7 })).when('replica');
    expect(level).toBe('replica');
  });

  test('gets domain errors with their types', async () => {
    const { client } = await open();
    const error = await client
      .invoke(bikes.rename({ id: 7, name: 'Bob' }))
      .catch((reason: unknown) => reason);
    expect(isDomainError(error, bikes.operations.rename, 'taken') && error.domain.data.by).toBe(
      'Bob',
    );
  });

  test('has its arguments checked before anything is sent', async () => {
    const request = vi.fn<typeof fetch>();
    const client = createClient(http(bikes, { url: '/api', levels: LEVELS, fetch: request }));
    await expect(client.invoke(bikes.bike({ id: 'x' as never }))).rejects.toMatchObject({
      field: 'args.id',
    });
    expect(request).not.toHaveBeenCalled();
  });

  test('that forgets the arguments in an address → the error shows how to give them', async () => {
    const { url } = await open();
    const forgotten = await fetch(`${url}/bike`);
    expect(forgotten.status).toBe(400);
    expect(await forgotten.json()).toMatchObject({
      error: {
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('?args={"id":1}') as string,
      },
    });
    const wrong = await (
      await fetch(`${url}/bike?args=${encodeURIComponent('{"id":"x"}')}`)
    ).text();
    expect(wrong).not.toContain('?args=');
    expect((await fetch(`${url}/bike?args={"id":7}`)).status).toBe(200);
  });

  test('sends headers of the application, and a read with many arguments as POST', async () => {
    const seen: unknown[] = [];
    const contract = defineContract('values', { ...keyValueOperations });
    const handle = httpHandler(contract, memory(), {
      authenticate: (request) => {
        const { authorization } = request.headers as Record<string, string>;
        seen.push([request.method, authorization]);
        return undefined;
      },
    });
    const client = createClient(
      http(contract, {
        url: await serve(handle),
        levels: ['weak', 'strong'],
        headers: () => ({ authorization: 'Bearer x' }),
      }),
    );
    await client.invoke(contract.get({ key: 'short' }));
    await client.invoke(contract.get({ key: 'long'.repeat(600) }));
    expect(seen).toEqual([
      ['GET', 'Bearer x'],
      ['POST', 'Bearer x'],
    ]);
  });

  test('with other levels than the server gets PROTOCOL', async () => {
    const { url } = await open();
    const client = createClient(http(bikes, { url, levels: ['replica', 'quorum', 'primary'] }));
    await expect(client.invoke(bikes.bike({ id: 7 }))).rejects.toMatchObject({
      code: 'PROTOCOL',
      field: 'levels',
    });
    // The server has executed the write.
    const write = client.invoke(bikes.rename({ id: 7, name: 'Eve' }));
    await expect(write).rejects.toMatchObject({ code: 'UNKNOWN' });
  });

  test('whose headers fail, or that is closed before it sends, knows that nothing was sent', async () => {
    const { url } = await open();
    const refused = (): Promise<Record<string, string>> => Promise.reject(new Error('no token'));
    const failing = createClient(http(bikes, { url, levels: LEVELS, headers: refused }));
    const write = failing.invoke(bikes.rename({ id: 7, name: 'Eve' }));
    await expect(write).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('Nothing was sent') as string,
    });
    const tokens: ((headers: Record<string, string>) => void)[] = [];
    const headers = (): Promise<Record<string, string>> =>
      new Promise((resolve) => {
        tokens.push(resolve);
      });
    const closing = createClient(http(bikes, { url, levels: LEVELS, headers }));
    const pending = closing
      .invoke(bikes.rename({ id: 7, name: 'Eve' }))
      .catch((error: unknown) => error);
    await closing.close();
    tokens[0]?.({});
    expect(await pending).toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('has an address without a query', () => {
    expect(() => http(bikes, { url: '/api?tenant=1', levels: LEVELS })).toThrow('url');
  });

  test('whose server is gone gets UNAVAILABLE for a read, and UNKNOWN for a write', async () => {
    const gone = (() => Promise.reject(new TypeError('fetch failed'))) as typeof fetch;
    const client = createClient(
      http(bikes, { url: 'http://127.0.0.1:9/api', levels: LEVELS, fetch: gone }),
    );
    await expect(client.invoke(bikes.bike({ id: 7 }))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    await expect(client.invoke(bikes.rename({ id: 7, name: 'Eve' }))).rejects.toMatchObject({
      code: 'UNKNOWN',
    });
  });

  test('keeps a session: its tokens travel with each request', async () => {
    const contract = defineContract('values', { ...keyValueOperations });
    const tokens: unknown[] = [];
    const store = memory();
    const binding: Binding = {
      name: 'sessions',
      consistencyLevels: () => store.consistencyLevels(),
      supports: (operation) => store.supports(operation),
      submitOperation: (...submitted) =>
        store.submitOperation(...(submitted as Parameters<typeof store.submitOperation>)),
      openSession: (sent = []) => {
        tokens.push(sent);
        return { tokens: [`token-${tokens.length}`] };
      },
      close: () => store.close(),
    };
    const client = createClient(
      http(contract, {
        url: await serve(httpHandler(contract, binding)),
        levels: ['weak', 'strong'],
        hasSessions: true,
      }),
    );
    const session = client.session();
    await client.invoke(contract.put({ key: 'k', value: 1 }), { session });
    expect(session.tokens).toEqual(['token-1']);
    await client.invoke(contract.get({ key: 'k' }), { session });
    expect(tokens).toEqual([[], ['token-1']]);
  });

  test('with a session that the store cannot keep gets UNSUPPORTED, and none without the option', async () => {
    const { url, client } = await open();
    expect(() => client.session()).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    const other = createClient(http(bikes, { url, levels: LEVELS, hasSessions: true }));
    const read = other.invoke(bikes.bike({ id: 7 }), { session: other.session() });
    await expect(read).rejects.toMatchObject({ code: 'UNSUPPORTED', field: 'session' });
  });

  test('cancels a read at the server', async () => {
    let wasAborted = (): void => {};
    const aborted = new Promise<void>((resolve) => (wasAborted = resolve));
    let hasStarted = (): void => {};
    const started = new Promise<void>((resolve) => (hasStarted = resolve));
    const binding = tiered(['replica', 'primary'], {
      replica: () => ({ id: 7, name: 'Ada' }),
      primary: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          hasStarted();
          signal.addEventListener('abort', () => {
            wasAborted();
            reject(signal.reason as Error);
          });
        }),
    });
    const { client } = await open({}, binding);
    const read = client.invoke(bikes.bike({ id: 7 }));
    read.catch(() => {});
    await started;
    read.cancel();
    await aborted;
  });
});

describe('the server', () => {
  const post = (
    url: string,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  test('replies with a status and an error that names the problem', async () => {
    const { url } = await open();
    const cases: readonly (readonly [() => Promise<Response>, number, string])[] = [
      [() => fetch(`${url}/nothing`), 501, 'Operations: bike, rename'],
      [() => fetch(`${url}/rename?args=%7B%7D`), 400, 'rename is a write. Use POST'],
      [
        () => fetch(`${url}/bike?args=%7B`),
        400,
        'args must be the arguments of the operation as JSON',
      ],
      [() => fetch(`${url}/bike`, { method: 'PUT' }), 400, 'bike has no PUT. Use POST'],
      [() => fetch(`${url}/bike`), 400, 'args.id'],
      [() => post(`${url}/rename`, '{', {}), 400, 'args must be'],
      [
        () => post(`${url}/rename`, '{}', { 'content-type': 'text/plain' }),
        400,
        'Send JSON as application/json',
      ],
      [() => post(`${url}/bike`, '{"id":7}', { 'correctables-levels': 'quorum' }), 400, 'quorum'],
      [
        () => post(`${url}/rename`, '{"id":7,"name":"Eve"}', { 'idempotency-key': 'k' }),
        501,
        'keeps no idempotency keys',
      ],
    ];
    for (const [reply, status, message] of cases) {
      const response = await reply();
      const text = await response.text();
      expect(text).toContain(message);
      expect([text.slice(0, 80), response.status]).toEqual([text.slice(0, 80), status]);
    }
  });

  test('refuses a body that is too large', async () => {
    const { url } = await open({ maxBodyBytes: 100 });
    const response = await post(`${url}/rename`, JSON.stringify({ id: 7, name: 'x'.repeat(200) }));
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('more than 100 bytes'),
    ]);
  });

  test.each([
    '//',
    '///',
    'http://[/',
    '//x:99999/bikes',
    '/%E0%A4%A',
    '/__proto__',
    '/constructor',
    '*',
    '/api/',
  ])('replies to the address %s, and serves on', async (path) => {
    const { url, client } = await open();
    const { port } = new URL(url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
      );
      let text = '';
      socket.setEncoding('utf8');
      socket.on('data', (part: string) => (text += part));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 501 /);
    expect(await client.invoke(bikes.bike({ id: 7 }))).toEqual({ id: 7, name: 'Ada' });
  });

  test('refuses options that are no numbers', () => {
    const binding = createShop();
    for (const options of [
      { timeoutMs: '30s' },
      { timeoutMs: 0 },
      { maxBodyBytes: '1mb' },
      { maxBodyBytes: Number.NaN },
    ])
      expect(() => httpHandler(bikes, binding, options as never)).toThrow(Object.keys(options)[0]);
  });

  test('counts the bytes of a body of Web standards while it reads it', async () => {
    const handler = httpHandler(bikes, createShop(), { maxBodyBytes: 100, onError: () => {} });
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(1 << 20).fill(32));
      },
    });
    const init = {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-type': 'application/json' },
    };
    const response = await handler.fetch(
      new Request('http://shop.test/rename', init as RequestInit),
    );
    expect([response.status, pulled < 10]).toEqual([400, true]);
  });

  test('refuses a body that a parser has read, if it is no JSON of this package', async () => {
    const app = express();
    app.use(express.json());
    app.use('/api', httpHandler(bikes, createShop(), { onError: () => {} }));
    const url = await listen(createServer(app));
    for (const body of ['{"$date":"x"}', '{"$zzz":1}', '{"id":1,"name":{"$bytes":1}}'])
      expect((await post(`${url}/rename`, body)).status).toBe(400);
  });

  test('reports that nothing was executed if authorize takes too long', async () => {
    const decisions: ((isAllowed: boolean) => void)[] = [];
    const authorize = (): Promise<boolean> =>
      new Promise((resolve) => {
        decisions.push(resolve);
      });
    const { client } = await open({ timeoutMs: 20, authorize });
    await expect(client.invoke(bikes.rename({ id: 7, name: 'Eve' }))).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
    decisions[0]?.(true);
  });

  test('authenticates and authorizes each request, and passes the user on', async () => {
    const users: (string | undefined)[] = [];
    const binding = tiered(LEVELS, {
      replica: (_, { principal }) => {
        users.push(principal?.id);
        return { id: 7, name: 'Ada' };
      },
      primary: () => ({ id: 7, name: 'Ada' }),
    });
    const authenticate = (request: { readonly headers: unknown }): Principal => {
      const { authorization } = request.headers as Record<string, string | undefined>;
      if (authorization === undefined) throw new Error('no token');
      return { id: authorization };
    };
    const authorize = (principal: Principal | undefined): boolean => principal?.id === 'ada';
    const { url } = await open({ authenticate, authorize }, binding);
    const read = async (headers: Record<string, string>) =>
      (await fetch(`${url}/bike?args={"id":7}`, { headers })).status;
    expect([
      await read({}),
      await read({ authorization: 'bob' }),
      await read({ authorization: 'ada' }),
    ]).toEqual([401, 403, 200]);
    expect(users).toEqual(['ada']);
  });

  test('reports a cause that the client does not get', async () => {
    const causes: unknown[] = [];
    const binding = tiered(
      LEVELS,
      {
        replica: () => Promise.reject(new Error('secret')),
        primary: () => Promise.reject(new Error('secret')),
      },
      { onError: () => {} },
    );
    const { url } = await open({ onError: (error) => causes.push(error) }, binding);
    const text = await (await fetch(`${url}/bike?args={"id":7}`)).text();
    expect(text).not.toContain('secret');
    expect(causes.map((error) => (error as CorrectableError).code)).toContain('FINAL_FAILED');
  });
});

describe('frameworks', () => {
  test('Express, with and without a parser of bodies: other paths go on', async () => {
    for (const parsers of [[], [express.json()]]) {
      const app = express();
      for (const parser of parsers) app.use(parser);
      app.use('/api', httpHandler(bikes, createShop()));
      app.use((_request, response) => void response.status(404).send('other'));
      const url = await listen(createServer(app));
      const client = createClient(http(bikes, { url, levels: LEVELS }));
      await client.invoke(bikes.rename({ id: 7, name: 'Eve' }));
      expect(await client.invoke(bikes.bike({ id: 7 }))).toEqual({ id: 7, name: 'Eve' });
      expect(await (await fetch(`${url}/nothing`)).text()).toBe('other');
    }
  });

  test('Hono, by Web standards', async () => {
    const app = new Hono();
    const handler = httpHandler(bikes, createShop());
    app.all('/api/*', (context) => handler.fetch(context.req.raw));
    const client = createClient(
      http(bikes, {
        url: 'http://shop.test/api',
        levels: LEVELS,
        fetch: (async (input: string, init: RequestInit) =>
          app.request(input, init)) as typeof fetch,
      }),
    );
    await client.invoke(bikes.rename({ id: 7, name: 'Eve' }));
    expect(await client.invoke(bikes.bike({ id: 7 }))).toEqual({ id: 7, name: 'Eve' });
  });
});
