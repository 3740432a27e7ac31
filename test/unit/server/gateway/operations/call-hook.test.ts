/**
 * Hooks that misbehave: each throws, rejects, hangs or returns nonsense wherever it is called. The
 * client gets the true outcome, others are served, and the process goes on: an unhandled rejection
 * would fail the run.
 */
import { get, type RequestListener, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Binding, BindingSession } from '../../../../../src/correctable/binding.ts';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import type {
  Authenticate,
  Authorize,
} from '../../../../../src/server/gateway/context/gateway-context.ts';
import { listenGateways } from '../../../../../src/server/gateway/listen/listen.ts';
import { silentLogger } from '../../../../../src/server/gateway/context/logger.ts';
import {
  RawClient,
  startGateway,
  StoreDouble,
  type RunningGateway,
} from '../../../../support/wire.ts';

/** Long enough for whatever does answer, short enough to wait for what never does. */
const bounds = { hookTimeoutMs: 50 };

const throws = (): never => {
  throw new Error('secret of the hook');
};
const rejects = (): Promise<never> => Promise.reject(new Error('secret of the hook'));
const hangs = (): Promise<never> => new Promise(() => {});
const unreadable = (): Error => Object.defineProperty(new Error('x'), 'name', { get: throws });
const failBecauseDown = (): never => {
  throw new CorrectableError('UNAVAILABLE', 'secret of the directory');
};
const isDown = async (): Promise<never> => failBecauseDown();
const FINAL = { retryable: false };
const gives = (value: unknown) => (): unknown => value;

const READ = ['get', 'read', 3, { key: 'x' }];
const UPDATE = ['put', 'write', 3, { key: 'x' }];

const escaped: unknown[] = [];
const escape = (error: unknown): void => void escaped.push(error);
beforeEach(() => {
  escaped.length = 0;
  process.on('unhandledRejection', escape).on('uncaughtException', escape);
});
afterEach(async () => {
  await new Promise(setImmediate);
  process.off('unhandledRejection', escape).off('uncaughtException', escape);
  if (escaped.length > 0) throw new Error('something reached the process', { cause: escaped[0] });
});

/** Another client is served as if nothing had happened. */
async function expectServing(server: RunningGateway): Promise<void> {
  await using client = new RawClient(server.url);
  expect(await client.greet({ client: 'b'.repeat(32), token: 'good' })).toMatchObject([
    0,
    'welcome',
    {},
  ]);
  client.send([1, 'ping']);
  expect(await client.row()).toEqual([1, 'pong']);
}

const NO_PRINCIPALS = [
  undefined,
  null,
  5,
  {},
  { id: 5 },
  { id: '\ud800' },
  { id: 'a', expiresAt: NaN },
  { id: 'a', expiresAt: null },
];

/** Ways in which `authenticate` may fail to decide. */
const UNDECIDED: [string, () => unknown, number][] = [
  ['hangs', hangs, 1011],
  ['fails because its directory is down', isDown, 1011],
];

describe('authenticate', () => {
  const start = (hook: () => unknown) =>
    startGateway({
      bounds,
      authenticate: ((token) => (token === 'good' ? { id: 'ada' } : hook())) as Authenticate,
    });

  const cases: [string, () => unknown, number | undefined][] = [
    ['throws', throws, 4401],
    ['rejects', rejects, 4401],
    [
      'rejects for good, in words of ours',
      () => Promise.reject(new CorrectableError('FORBIDDEN', 'no')),
      4401,
    ],
    ['rejects with what cannot be read', () => Promise.reject(unreadable()), 4401],
    ['gives a token that is over', gives({ id: 'ada', expiresAt: 1 }), 4402],
    ['gives a promise of nothing', () => Promise.resolve(undefined), 4401],
    ...NO_PRINCIPALS.map((value): [string, () => unknown, number] => [
      `gives ${JSON.stringify(value) ?? 'undefined'}`,
      gives(value),
      4401,
    ]),
  ];

  test.each([...cases, ...UNDECIDED])(
    '%s at hello, alone → the connection is closed',
    async (_, hook, code) => {
      await using server = await start(hook);
      await using client = new RawClient(server.url);
      await client.opened();
      client.send([0, 'hello', { ...RawClient.hello(), token: 'odd' }]);
      expect((await client.closed).code).toBe(code);
      await expectServing(server);
    },
  );

  test.each(cases)('%s at renew → the connection is closed', async (_, hook, code) => {
    await using server = await start(hook);
    await using client = await RawClient.greeted(server.url, { token: 'good' });
    client.send([0, 'renew', 'odd']);
    expect((await client.closed).code).toBe(code);
    await expectServing(server);
  });

  test.each(UNDECIDED)(
    '%s at renew → the connection goes on, and takes a later token',
    async (_, hook) => {
      await using server = await start(hook);
      await using client = await RawClient.greeted(server.url, { token: 'good' });
      client.send([0, 'renew', 'odd'], [0, 'renew', 'good'], [1, 'ping']);
      const rows = [await client.row(), await client.row()];
      expect(rows.map(([, kind]) => kind).toSorted()).toEqual(['pong', 'renewed']);
      await expectServing(server);
    },
  );
});

describe('authorize', () => {
  test.each([
    ['throws', throws, 'FORBIDDEN'],
    ['rejects', rejects, 'FORBIDDEN'],
    ['hangs', hangs, 'UNAVAILABLE'],
    ['gives nothing', gives(undefined), 'FORBIDDEN'],
    ['gives 1', gives(1), 'FORBIDDEN'],
    ['gives "true"', gives('true'), 'FORBIDDEN'],
    ['gives a promise of false', () => Promise.resolve(false), 'FORBIDDEN'],
    ['gives a promise of 1', () => Promise.resolve(1), 'FORBIDDEN'],
    ['gives a promise that cannot be awaited', () => ({ then: throws }), 'FORBIDDEN'],
    [
      'rejects for good, in words of ours',
      () => Promise.reject(new CorrectableError('CONFLICT', 'x', FINAL)),
      'FORBIDDEN',
    ],
    ['rejects with what cannot be read', () => Promise.reject(unreadable()), 'FORBIDDEN'],
    ['fails because its directory is down', isDown, 'UNAVAILABLE'],
    ['fails so synchronously', failBecauseDown, 'UNAVAILABLE'],
    [
      'fails because its directory is overloaded',
      () => Promise.reject(new CorrectableError('OVERLOADED', 'secret')),
      'UNAVAILABLE',
    ],
  ])('%s → refused, not executed', async (_, hook, code) => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    await using server = await startGateway({ bounds, logger, authorize: hook as Authorize });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE]);
    const [id, kind, reported, message, , details] = await client.row();
    expect([id, kind, reported]).toEqual([1, 'fail', code]);
    expect(details).toEqual({ retryable: code === 'UNAVAILABLE' });
    if (code === 'UNAVAILABLE') expect(message).toMatch(/^authorize .*; nothing was done$/);
    if (code === 'UNAVAILABLE') expect(logger.warn).toHaveBeenCalledOnce();
    expect(server.store.submitted).toEqual([]);
    expect(client.frames.join()).not.toContain('secret');
    await expectServing(server);
  });
});

/** A store with one method replaced. */
function storeWith(method: string, hook: unknown): StoreDouble {
  const store = new StoreDouble();
  store.answer = ({ sink }) => sink.view('v', 'strong');
  return Object.assign(store, { [method]: hook });
}

describe('the hosted binding', () => {
  test.each([
    ['supports', 'throws', throws, 'FINAL_FAILED'],
    ['supports', 'rejects', rejects, 'UNSUPPORTED'],
    ['supports', 'hangs', hangs, 'UNSUPPORTED'],
    ['supports', 'gives nothing', gives(undefined), 'UNSUPPORTED'],
    ['openSession', 'throws', throws, 'FINAL_FAILED'],
    ['openSession', 'rejects', rejects, 'UNSUPPORTED'],
    ['openSession', 'hangs', hangs, 'UNSUPPORTED'],
    ['openSession', 'gives nothing', gives(undefined), 'UNSUPPORTED'],
    ['openSession', 'is no function', 5, 'FINAL_FAILED'],
    ['submitOperation', 'throws', throws, 'FINAL_FAILED'],
    ['submitOperation', 'rejects', rejects, 'FINAL_FAILED'],
    ['submitOperation', 'gives what cannot be awaited', () => ({ then: throws }), 'FINAL_FAILED'],
  ])('%s %s', async (method, _, hook, code) => {
    await using server = await startGateway({ store: storeWith(method, hook) });
    await using client = await RawClient.greeted(server.url);
    client.send([
      1,
      'submit',
      ...READ,
      ...(method === 'openSession' ? [null, null, null, []] : []),
    ]);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', code]);
    expect(client.frames.join()).not.toContain('secret');
    await expectServing(server);
  });

  test('supports no such operation → UNSUPPORTED with the reason of the store', async () => {
    const reason = { supports: () => false, describeUnsupported: () => 'it has no keys' };
    await using server = await startGateway({ store: Object.assign(new StoreDouble(), reason) });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ]);
    const [, , code, message] = await client.row();
    expect([code, message]).toEqual(['UNSUPPORTED', expect.stringMatching(/: it has no keys$/)]);
  });

  test.each([
    ['throws', { get: throws }, 'read', 'FINAL_FAILED'],
    ['throws', { get: throws }, 'write', 'UNKNOWN'],
    ['gives numbers', { value: [5] }, 'read', 'INVALID_VALUE'],
    ['gives numbers', { value: [5] }, 'write', 'UNKNOWN'],
    ['gives what no client takes', { value: [''] }, 'write', 'UNKNOWN'],
  ] as const)(
    'session.tokens %s → the outcome of the operation is true',
    async (_, tokens, effect, code) => {
      const store = new StoreDouble();
      let isOpen = false;
      // Given when the session is opened, spoilt when a view is to go with it.
      const session = {
        get tokens() {
          if (!isOpen) return ['t'];
          return 'get' in tokens ? tokens.get() : tokens.value;
        },
      } as unknown as BindingSession;
      Object.assign(store, { openSession: () => session });
      store.answer = ({ sink }) => {
        isOpen = true;
        sink.view('v', 'strong');
      };
      await using server = await startGateway({ store });
      await using client = await RawClient.greeted(server.url);
      client.send([1, 'submit', 'x', effect, 3, null, null, null, null, []]);
      expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', code]);
      await expectServing(server);
    },
  );

  test('listens to the signal and throws there → logged', async () => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const store = new StoreDouble();
    store.answer = ({ context }) => context.signal.addEventListener('abort', throws);
    await using server = await startGateway({ store, logger });
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...READ], [2, 'submit', ...READ], [2, 'cancel'], [3, 'ping']);
    expect(await client.row()).toEqual([3, 'pong']);
    client.socket.terminate();
    await expect.poll(() => logger.error.mock.calls.length).toBe(2);
    await expectServing(server);
  });

  test('opens sessions → each is closed once its operation has ended, or could not begin', async () => {
    const store = new StoreDouble();
    const close = vi.fn();
    Object.assign(store, {
      openSession: (tokens: readonly string[]) => ({ tokens: tokens[0] && tokens, close }),
    });
    store.answer = ({ sink }) => sink.view('v', 'strong');
    await using server = await startGateway({ store });
    await using client = await RawClient.greeted(server.url);
    client.send(
      [1, 'submit', ...READ, null, null, null, ['t']],
      [2, 'submit', ...READ, null, null, null, []],
    );
    expect((await client.row())[1]).toBe('view');
    expect((await client.row())[2]).toBe('UNSUPPORTED');
    expect(close).toHaveBeenCalledTimes(2);
  });

  test.each([
    [
      'a value whose getter throws',
      ['write', Object.defineProperty({}, 'x', { enumerable: true, get: throws })],
    ],
    ['a value that is a promise', ['write', hangs()]],
    ['metadata that is no object', ['write', 'v', 'strong', { meta: 'x' }]],
    ['metadata that is a list', ['write', 'v', 'strong', { meta: [1] }]],
    ['metadata that is a date', ['write', 'v', 'strong', { meta: new Date(0) }]],
    ['metadata that is bytes', ['write', 'v', 'strong', { meta: new Uint8Array(2) }]],
    ['a version that cannot be sent', ['write', 'v', 'strong', { version: Symbol('v') }]],
    [
      'details whose getter throws',
      ['write', 'v', 'strong', Object.defineProperty({}, 'meta', { get: throws })],
    ],
    [
      'an error without a code',
      ['fail', Object.assign(new Error('x'), { name: 'CorrectableError', code: '' })],
    ],
    [
      'an error whose code is a number',
      ['fail', Object.assign(new Error('x'), { name: 'CorrectableError', code: 5 })],
    ],
    [
      'an error whose getters throw',
      ['fail', Object.defineProperty(new Error('x'), 'name', { get: throws })],
    ],
    [
      'an error of half a character',
      [
        'fail',
        Object.assign(new Error('\ud800'), {
          name: 'CorrectableError',
          code: 'CONFLICT',
          retryAfterMs: NaN,
          field: 7,
          retryable: 'no',
        }),
      ],
    ],
    ['nothing at all as an error', ['fail', undefined]],
    ['a confirmation of what it never gave', ['confirm', 'strong', -1]],
  ] as const)(
    '%s → the operation fails, in a row that the client can read',
    async (_, [method, ...args]) => {
      const store = new StoreDouble();
      store.answer = ({ sink }) => {
        const [first, level = 'strong', details] = args as readonly [unknown, string?, unknown?];
        if (method === 'write') sink.view(first, level, details as object);
        else if (method === 'fail') sink.fail(first);
        else sink.confirm(String(first), Number(level));
      };
      await using server = await startGateway({ store });
      await using client = await RawClient.greeted(server.url);
      for (const [id, effect] of [
        [1, 'read'],
        [2, 'write'],
      ] as const) {
        client.send([id, 'submit', 'x', effect, 3, null]);
        const [reported, kind, code, message, , details] = await client.row();
        expect([reported, kind]).toEqual([id, 'fail']);
        expect(code).toMatch(/^[A-Z_]+$/);
        if (method === 'write') expect(code === 'UNKNOWN').toBe(effect === 'write');
        expect(message).toEqual(expect.any(String));
        if (details !== undefined)
          expect(details).toMatchObject({ retryable: expect.any(Boolean) as boolean });
        expect(client.frames.join()).not.toContain('secret');
      }
      await expectServing(server);
    },
  );

  test.each([
    ['throws', throws, /secret/],
    ['gives nothing', gives(undefined), /binding: consistencyLevels/],
    ['gives a promise', hangs, /binding: consistencyLevels/],
    ['rejects', rejects, /binding: consistencyLevels/],
    ['gives no name', gives([5]), /binding: consistencyLevels/],
    ['gives one twice', gives(['a', 'a']), /binding: consistencyLevels/],
    [
      'gives more than a submission can name',
      gives(Array.from({ length: 32 }, String)),
      /binding: consistencyLevels/,
    ],
  ])('consistencyLevels %s → the gateway is not made', (_, hook, message) => {
    const binding = storeWith('consistencyLevels', hook) as Binding;
    expect(() => createGateway({ binding })).toThrow(message);
  });
});

describe('the logger', () => {
  test.each([
    ['throws', throws],
    ['rejects', rejects],
    ['hangs', hangs],
    ['has no such method', undefined],
  ])('%s → everything else goes on', async (_, hook) => {
    const logger = { ...silentLogger };
    const store = new StoreDouble();
    const authenticate: Authenticate = (token) => (token === 'good' ? { id: 'ada' } : throws());
    await using server = await startGateway({
      store,
      logger,
      authenticate,
      authorize: (_p, { name }) => name !== 'put' || throws(),
    });
    Object.assign(logger, { debug: hook, info: hook, warn: hook, error: hook });
    await using stranger = new RawClient(server.url);
    await stranger.opened();
    stranger.send([0, 'hello', RawClient.hello()]);
    expect((await stranger.closed).code).toBe(4401);
    await using client = await RawClient.greeted(server.url, { token: 'good' });
    store.answer = ({ sink }) => {
      sink.view('v', 'nowhere');
      sink.fail(new Error('of the store'));
      sink.fail(new Error('too late'));
    };
    client.send([1, 'submit', ...UPDATE], [2, 'submit', ...READ]);
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'FORBIDDEN']);
    expect((await client.row()).slice(0, 3)).toEqual([2, 'fail', 'FINAL_FAILED']);
    await expectServing(server);
  });
});

describe('the page', () => {
  const status = (url: string): Promise<number> =>
    new Promise((resolve, reject) => {
      get(url, (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject);
    });

  test.each([
    ['throws', throws, 500],
    ['rejects', rejects, 500],
    ['gives what cannot be awaited', () => ({ then: throws }), 500],
  ])('%s → HTTP 500, reported', async (_, page, expected) => {
    const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const listener = await listenGateways({
      sites: { here: createGateway({ binding: new StoreDouble() }) },
      page: page as RequestListener,
      logger,
    });
    expect(await status(`${listener.url}/`)).toBe(expected);
    expect(logger.error).toHaveBeenCalledOnce();
    expect(await status(`${listener.url}/health`)).toBe(200);
    await listener.close();
  });

  test.each([
    [
      'has set the length of its response',
      (response: ServerResponse) => response.setHeader('content-length', '100'),
    ],
    [
      'has set what cannot be sent',
      (response: ServerResponse) => (response.statusMessage = '\ud83d'),
    ],
    [
      'has encoded nothing yet',
      (response: ServerResponse) => response.setHeader('content-encoding', 'gzip'),
    ],
  ])(
    'fails when it %s → a whole HTTP 500, and the connection is not used again',
    async (_, prepare) => {
      const listener = await listenGateways({
        sites: { here: createGateway({ binding: new StoreDouble() }) },
        page: (_request, response) => {
          prepare(response);
          throws();
        },
      });
      const answer = await fetch(`${listener.url}/`);
      expect([answer.status, await answer.text()]).toEqual([500, '']);
      expect(answer.headers.get('connection')).toBe('close');
      expect(answer.headers.get('content-length')).toBe('0');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(await status(`${listener.url}/health`)).toBe(200);
      await listener.close();
    },
  );

  test('rejects after its answer → the answer stays whole', async () => {
    const text = 'x'.repeat(5_000_000);
    const listener = await listenGateways({
      sites: { here: createGateway({ binding: new StoreDouble() }) },
      page: ((_request, response) => {
        response.end(text);
        return Promise.reject(new Error('too late'));
      }) as RequestListener,
    });
    expect((await (await fetch(`${listener.url}/`)).text()).length).toBe(text.length);
    await listener.close();
  });

  test('fails in the middle of its answer, or writes after it → that answer is cut, others are served', async () => {
    const listener = await listenGateways({
      sites: { here: createGateway({ binding: new StoreDouble() }) },
      page: ({ url }, response) => {
        response.writeHead(200, url === '/half' ? { 'content-length': 100 } : {});
        if (url === '/half') response.write('half');
        else response.end('all');
        if (url === '/half') throws();
        response.write('more');
      },
    });
    await expect(fetch(`${listener.url}/half`).then((answer) => answer.text())).rejects.toThrow(
      /terminated|failed/,
    );
    expect(await status(`${listener.url}/after`)).toBe(200);
    expect(await status(`${listener.url}/health`)).toBe(200);
    await listener.close();
  });

  test('hangs → others are served, and the server can be closed', async () => {
    const listener = await listenGateways({
      sites: { here: createGateway({ binding: new StoreDouble() }) },
      page: hangs as RequestListener,
    });
    const waiting = status(`${listener.url}/`);
    expect(await status(`${listener.url}/health`)).toBe(200);
    await listener.close();
    await expect(waiting).rejects.toThrow(/socket hang up|ECONNRESET/);
  });
});
