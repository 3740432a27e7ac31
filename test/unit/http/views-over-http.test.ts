/**
 * Views as an HTTP reply, and back: formats, failures, disconnects. No server runs here, the reply
 * is read as it is.
 */
// @rule HV-1, HV-2, HV-3, HV-7, HV-11
import { EventEmitter } from 'node:events';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  fetchViews,
  respondWithViews,
  sendViews,
  type FetchViewsOptions,
  type RespondOptions,
} from '../../../src/http/index.ts';
import { tiered } from '../../../src/bindings/tiered/index.ts';
import {
  correctable,
  CorrectableError,
  createClient,
  type Correctable,
} from '../../../src/index.ts';
import { put } from '../../../src/operations/index.ts';

const LEVELS = ['weak', 'strong'] as const;
type Two = typeof LEVELS;

/**
 * A server that replies with a Correctable of which the test decides, and a page that requests it.
 */
function open(options: RespondOptions & { readonly sent?: Request[] } = {}) {
  const { correctable: served, sink } = correctable(LEVELS).withSink<unknown>({ isRefining: true });
  const requests: Request[] = [];
  const serve = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const request = new Request(new URL(String(input), 'https://shop.test'), init);
    requests.push(request);
    return respondWithViews(served, { request, onError: () => {}, ...options });
  };
  const request = (more: FetchViewsOptions = {}): Correctable<unknown, Two> =>
    fetchViews(LEVELS)('/stock?user=ada', { fetch: serve as typeof fetch, ...more });
  return { served, sink, serve, request, requests };
}

async function collect(views: Correctable<unknown, Two>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const { value, level } of views) seen.push([level, value]);
  return seen;
}

describe('views', () => {
  test.each(['ndjson', 'sse'] as const)(
    '%s → each view arrives when it is delivered',
    async (format) => {
      const { sink, request } = open({ format });
      const views = request();
      const reading = views[Symbol.asyncIterator]();
      sink.view('old', 'weak');
      expect((await reading.next()).value).toMatchObject({
        value: 'old',
        level: 'weak',
        final: false,
      });
      sink.view('new', 'strong', { version: 7, meta: { remaining: 3 } });
      expect((await reading.next()).value).toMatchObject({
        value: 'new',
        level: 'strong',
        final: true,
        version: 7,
        meta: { remaining: 3 },
      });
      expect((await reading.next()).done).toBe(true);
    },
  );

  test.each([
    ['undefined', undefined],
    [
      'a bigint, a date, bytes',
      { n: 7n, on: new Date(0), photo: new Uint8Array([1, 2]), $key: null },
    ],
    ['text in any language, with line ends', 'línea\r\n二\u2028three\n\ndata: {}'],
    ['text of two megabytes', 'x'.repeat(2_000_000)],
  ])('%s → arrives as it was', async (_name, value) => {
    for (const format of ['ndjson', 'sse'] as const) {
      const { sink, request } = open({ format });
      sink.view(value, 'strong');
      expect(await request()).toEqual(value);
    }
  });

  test('several views at one level, as of a search → all arrive', async () => {
    const { sink, request } = open();
    const seen = collect(request());
    for (const count of [1, 2]) {
      sink.view(count, 'weak');
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    sink.view(3, 'strong');
    expect(await seen).toEqual([
      ['weak', 1],
      ['weak', 2],
      ['strong', 3],
    ]);
  });

  test('a final view at a weaker level → is final', async () => {
    const { sink, request } = open();
    sink.view('all there is', 'weak', { final: true });
    expect(await request().settle()).toMatchObject({ level: 'weak', final: true });
  });

  test('chunks cut anywhere → the same views', async () => {
    const { sink, serve, request } = open({ format: 'sse' });
    sink.view('é二', 'strong');
    const text = new Uint8Array(await (await serve('/')).arrayBuffer());
    const bytewise = async (): Promise<Response> => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const byte of text) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      });
      return new Response(body, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      });
    };
    expect(await request({ fetch: bytewise as typeof fetch })).toBe('é二');
  });

  test('a platform without streams, as React Native → the views come with the end of the reply', async () => {
    const { sink, serve, request } = open();
    sink.view('all', 'strong');
    const whole = async (): Promise<Response> =>
      Object.defineProperty(await serve('/'), 'body', { value: undefined });
    expect(await request({ fetch: whole as typeof fetch })).toBe('all');
  });

  const ndjson = (body: string) => async (): Promise<Response> =>
    new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });

  const first = JSON.stringify({ level: 'weak', value: 'old' });
  const last = JSON.stringify({ level: 'strong', value: 'new', final: true });
  test.each([
    ['a media type in capitals', 'Application/X-NDJSON; Charset=UTF-8', `${first}\n${last}\n`],
    [
      'a media type of events in capitals',
      'Text/Event-Stream',
      `data: ${first}\n\ndata: ${last}\n\n`,
    ],
    ['lines that end with CR', 'text/event-stream', `id: 1\rdata: ${first}\r\rdata: ${last}\r\r`],
    [
      'lines that end with CR and LF',
      'text/event-stream',
      `data: ${first}\r\n\r\ndata:${last}\r\n\r\n`,
    ],
    ['NDJSON whose lines end with CR', 'application/x-ndjson', `${first}\r${last}\r`],
    ['byte order marks', 'application/x-ndjson', `\ufeff${first}\n\ufeff${last}\n`],
    [
      'byte order marks before events',
      'text/event-stream',
      `\ufeffdata: ${first}\n\n\ufeffdata: ${last}\n\n`,
    ],
  ])('%s → the same views', async (_name, type, body) => {
    const serve = async (): Promise<Response> =>
      new Response(body, { headers: { 'content-type': type } });
    const { request } = open();
    expect(await collect(request({ fetch: serve as typeof fetch }))).toEqual([
      ['weak', 'old'],
      ['strong', 'new'],
    ]);
  });

  test('a page that accepts events in capitals → gets events', async () => {
    const { sink, serve } = open();
    sink.view(1, 'strong');
    const response = await serve('/', { headers: { accept: 'Text/Event-Stream' } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await response.body?.cancel();
  });

  test('two messages of 9 000 000 characters in one chunk → both arrive', async () => {
    const { request } = open();
    const value = 'x'.repeat(9_000_000);
    const weak = JSON.stringify({ level: 'weak', value });
    const strong = JSON.stringify({ level: 'strong', value: `${value}y`, final: true });
    const seen = await collect(request({ fetch: ndjson(`${weak}\n${strong}\n`) as typeof fetch }));
    expect(seen.map((view) => JSON.stringify(view).length)).toEqual([9_000_011, 9_000_014]);
  });

  test.each(['', '\n'])(
    'a message of more than 16 777 216 characters, then %j → PROTOCOL after those before',
    async (end) => {
      const { request } = open();
      const long = JSON.stringify({ level: 'strong', value: 'x'.repeat(16_777_216), final: true });
      const views = request({
        fetch: ndjson(`{"level":"weak","value":1}\n${long}${end}`) as typeof fetch,
      });
      await expect(views).rejects.toMatchObject({ code: 'PROTOCOL', lastView: { value: 1 } });
    },
  );
});

describe('the request', () => {
  test('accepts NDJSON, and keeps headers of the application', async () => {
    const { sink, request, requests } = open();
    sink.view(1, 'strong');
    await request({ headers: { authorization: 'Bearer t' } });
    expect(requests[0]?.headers.get('accept')).toBe('application/x-ndjson');
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer t');
  });

  test.each([
    ['text/event-stream', 'text/event-stream'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['*/*', 'application/x-ndjson'],
  ])('accept: %s → %s, which proxies pass on at once', async (accept, type) => {
    const { sink, serve } = open();
    sink.view(1, 'strong');
    const { headers, status } = await serve('/', { headers: { accept } });
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });
});

describe('failures', () => {
  test('before the first view → the status of the code, the error as JSON, and as it was in the page', async () => {
    const { sink, serve, request } = open();
    sink.fail(new CorrectableError('OVERLOADED', 'too many', { retryAfterMs: 1_200 }));
    const response = await serve('/');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.json()).toEqual({
      error: { code: 'OVERLOADED', message: 'too many', retryable: true, retryAfterMs: 1_200 },
    });
    await expect(request()).rejects.toMatchObject({
      code: 'OVERLOADED',
      retryAfterMs: 1_200,
      operation: 'GET /stock',
      retryable: true,
    });
  });

  test('after a view → the error keeps its code, and the last view', async () => {
    const { sink, request } = open();
    const views = request();
    sink.view('old', 'weak');
    await views.settle({ enough: () => true });
    sink.fail(new CorrectableError('FORBIDDEN', 'not yours'));
    await expect(views).rejects.toMatchObject({ code: 'FORBIDDEN', lastView: { value: 'old' } });
  });

  test('what a store throws → stays on the server', async () => {
    const { sink, serve } = open();
    sink.fail(new Error('password=hunter2'));
    const response = await serve('/');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
  });

  test('a value that cannot be sent → INVALID_VALUE, and the operation is canceled', async () => {
    const { served, sink, request } = open();
    sink.view({ socket: new Map() }, 'weak');
    await expect(request()).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    expect(served.state).toBe('error');
  });

  test('a result of an update that cannot be sent → status 500, and that it may have been applied', async () => {
    const store = createClient(tiered(['strong'], { strong: () => new Map() }));
    const onError = vi.fn();
    const reply = await respondWithViews(store.invoke(put('book', 1)), { onError });
    expect(reply.status).toBe(500);
    const { error } = (await reply.json()) as { error: { message: string } };
    expect(error).toMatchObject({ code: 'INVALID_VALUE', retryable: false, field: 'value' });
    expect(error.message).toContain('The update may have been applied.');
    expect(onError).toHaveBeenCalledOnce();
  });

  test('a header that cannot be sent → rejected, and operation and session end', async () => {
    const session = { tokens: [], close: vi.fn(), [Symbol.dispose]: () => {} };
    const { served, sink, serve } = open({ session, headers: { 'x-shelf': '⌘' } });
    sink.view(1, 'weak');
    await expect(serve('/')).rejects.toThrow(TypeError);
    expect(served.state).toBe('error');
    expect(session.close).toHaveBeenCalledOnce();
  });

  test.each([
    ['text', new CorrectableError('INVALID_ARGUMENT', 'no key "\ud800"')],
    [
      'data',
      new CorrectableError('DOMAIN', 'sold out', { domain: { name: 'soldOut', data: new Map() } }),
    ],
  ])('an error whose %s cannot be sent → arrives with its code', async (_name, error) => {
    const { sink, request } = open();
    sink.fail(error);
    await expect(request()).rejects.toMatchObject({ code: error.code, retryable: false });
  });

  test.each([
    [404, 'GET', 'FINAL_FAILED'],
    [401, 'GET', 'UNAUTHENTICATED'],
    [503, 'GET', 'UNAVAILABLE'],
    [504, 'GET', 'TIMEOUT'],
    [520, 'GET', 'UNAVAILABLE'],
    [522, 'QUERY', 'UNAVAILABLE'],
    [524, 'GET', 'TIMEOUT'],
    [524, 'POST', 'UNKNOWN'],
    [499, 'POST', 'UNKNOWN'],
    [529, 'GET', 'OVERLOADED'],
    [503, 'POST', 'UNKNOWN'],
    [500, 'PUT', 'UNKNOWN'],
    [204, 'PUT', 'UNKNOWN'],
    [403, 'DELETE', 'FORBIDDEN'],
  ])('status %i of a proxy to %s → %s', async (status, method, code) => {
    const { request } = open();
    const proxy = async (): Promise<Response> =>
      new Response(status === 204 ? null : '<h1>sorry</h1>', { status });
    await expect(request({ method, fetch: proxy as typeof fetch })).rejects.toMatchObject({ code });
    // Gateways have errors in a form of their own, some with names like those of this package.
    const error = { code: 'TIMEOUT', message: 'sorry' };
    const gateway = async (): Promise<Response> =>
      status === 204 ? proxy() : Response.json({ error }, { status });
    await expect(request({ method, fetch: gateway as typeof fetch })).rejects.toMatchObject({
      code,
    });
  });

  test.each([
    ['GET', 'UNAVAILABLE', true],
    ['POST', 'UNKNOWN', false],
  ])('no network, %s → %s', async (method, code, retryable) => {
    const { request } = open();
    const offline = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
    await expect(request({ method, fetch: offline as typeof fetch })).rejects.toMatchObject({
      code,
      retryable,
    });
  });

  test.each([
    [
      'the reply ends before the final view',
      '{"level":"weak","value":1}\n',
      'UNAVAILABLE',
      /ended before the final/,
    ],
    ['a line is no JSON', '{nonsense\n', 'PROTOCOL', /not JSON/],
    ['a message is neither', '{"hello":1}\n', 'PROTOCOL', /neither/],
    [
      'a level that the page does not have',
      '{"level":"quorum","value":1}\n',
      'PROTOCOL',
      /quorum.*weak, strong/,
    ],
    [
      'a preliminary view at its last level',
      '{"level":"strong","value":1}\n',
      'PROTOCOL',
      /preliminary.*weak, strong/,
    ],
    ['a confirmation of nothing', '{"level":"strong","final":true}\n', 'PROTOCOL', /confirmed/],
  ])('%s → %s', async (_name, body, code, message) => {
    const { request } = open();
    const headers = { 'content-type': 'application/x-ndjson' };
    const broken = async (): Promise<Response> => new Response(body, { headers });
    const failure = await request({ fetch: broken as typeof fetch }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) as string });
    const update = request({ method: 'POST', fetch: broken as typeof fetch });
    await expect(update).rejects.toMatchObject({ code: 'UNKNOWN' });
  });

  test('a page instead of views → PROTOCOL, which names the type', async () => {
    const { request } = open();
    const page = async (): Promise<Response> =>
      new Response('<p>', { headers: { 'content-type': 'text/html' } });
    await expect(request({ fetch: page as typeof fetch })).rejects.toMatchObject({
      code: 'PROTOCOL',
      message: expect.stringContaining('text/html') as string,
    });
    await expect(request({ method: 'POST', fetch: page as typeof fetch })).rejects.toMatchObject({
      code: 'UNKNOWN',
    });
  });
});

describe('leaving', () => {
  test('the signal of a Request aborts → the views are canceled', async () => {
    const { serve } = open();
    const leaving = new AbortController();
    const input = new Request('https://shop.test/stock', { signal: leaving.signal });
    const views = fetchViews(LEVELS)(input, {
      fetch: ((_input, init) => serve('/', init)) as typeof fetch,
    });
    leaving.abort();
    await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('an update that is canceled → UNKNOWN: it may have been applied', async () => {
    const { request } = open();
    const views = request({ method: 'POST' });
    views.cancel();
    await expect(views).rejects.toMatchObject({ code: 'UNKNOWN' });
  });

  test('no final view in time → TIMEOUT, and UNKNOWN of an update', async () => {
    await expect(open().request({ timeoutMs: 5 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      operation: 'GET /stock',
    });
    await expect(open().request({ timeoutMs: 5, method: 'POST' })).rejects.toMatchObject({
      code: 'UNKNOWN',
    });
  });
});

test('types: the levels are inferred, the value is named', () => {
  const price = fetchViews(['quoted', 'charged'])<number>('/price', {
    fetch: (() => new Promise(() => {})) as never,
  });
  expectTypeOf(price).toEqualTypeOf<Correctable<number, readonly ['quoted', 'charged']>>();
  price.catch(() => {});
  price.cancel();
});

test.each([
  ['no address', undefined, {}, 'input'],
  ['no options', '/', null, 'options'],
  ['a fetch that is no function', '/', { fetch: 5, method: 'PUT' }, 'fetch'],
])('%s of a request → INVALID_ARGUMENT with the field', (_name, input, options, field) => {
  const request = (): unknown => fetchViews(LEVELS)(input as never, options as never);
  expect(request).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
});

test('null as the options of a reply → INVALID_ARGUMENT', async () => {
  const { served } = open();
  const reply = respondWithViews(served, null as never);
  await expect(reply).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'options' });
});

test('a promise in the place of a Correctable → INVALID_ARGUMENT', async () => {
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead() {},
    write: () => true,
    end() {},
  });
  await expect(sendViews(response, Promise.resolve(1) as never)).rejects.toMatchObject({
    field: 'correctable',
  });
  response.emit('close');
});
