/** Replies over the responses of Node, which the application and the client may end at any time. */
// @rule HV-5, HV-8
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import http2 from 'node:http2';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fetchViews, sendViews } from '../../../src/http/index.ts';
import { correctable } from '../../../src/index.ts';

const LEVELS = ['weak', 'strong'] as const;
const create = () => correctable(LEVELS).withSink<string>({ timeoutMs: 10_000 });

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves over HTTP/1.1; an uncaught error of the server fails the test run. */
async function serve(handle: Handler): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

type Http2Handler = (
  request: http2.Http2ServerRequest,
  response: http2.Http2ServerResponse,
) => void;

async function connectHttp2(handle: Http2Handler): Promise<http2.ClientHttp2Session> {
  const server = http2.createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  cleanUps.push(() => {
    client.destroy();
    server.close();
  });
  return client;
}

/** A promise that the test resolves. */
function createGate<T = void>() {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { open, opened };
}

describe('over HTTP/1.1', () => {
  test('writes nothing after the application has ended the response', async () => {
    const shop = create();
    const sent = createGate();
    let response!: ServerResponse;
    const url = await serve((request, reply) => {
      response = reply;
      void sendViews(reply, shop.correctable, { request, onError: () => {} }).then(sent.open);
    });
    shop.sink.view('old', 'weak');
    const { body } = await fetch(url);
    await body?.getReader().read();
    const write = vi.spyOn(response, 'write');
    response.end();
    shop.sink.fail(new Error('the store is closed'));
    await sent.opened;
    expect(write).not.toHaveBeenCalled();
    await expect(shop.correctable).rejects.toMatchObject({
      cause: { message: 'the store is closed' },
    });
  });

  test('headers that the application has sent → nothing is written, the operation ends, onError gets it', async () => {
    const shop = create();
    shop.sink.view('old', 'weak');
    const onError = vi.fn();
    const url = await serve((request, response) => {
      response.writeHead(200).write('mine');
      void sendViews(response, shop.correctable, { request, onError }).then(() => response.end());
    });
    expect(await (await fetch(url)).text()).toBe('mine');
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'response' }),
    );
    await expect(shop.correctable).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('a timeout of the application replies before the first view → its reply stays', async () => {
    const shop = create();
    const sent = createGate();
    const url = await serve((request, response) => {
      void sendViews(response, shop.correctable, { request }).then(sent.open);
      response.writeHead(503).end('too slow');
      shop.sink.view('late', 'strong');
    });
    const reply = await fetch(url);
    expect([reply.status, await reply.text()]).toEqual([503, 'too slow']);
    await sent.opened;
  });

  test('a header that cannot be sent → status 500 without it, and onError gets the reason', async () => {
    const shop = create();
    shop.sink.view('old', 'weak');
    const onError = vi.fn();
    const headers = { 'x-book': '⌘' };
    const url = await serve((request, response) => {
      void sendViews(response, shop.correctable, { request, headers, onError });
    });
    const error = await fetchViews(LEVELS)(url).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    expect((await fetch(url)).status).toBe(500);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'ERR_INVALID_CHAR' }));
  });

  test('a logger that replaces write() and returns nothing → all views are sent', async () => {
    const shop = create();
    const url = await serve((request, response) => {
      const write = response.write.bind(response) as (chunk: string) => boolean;
      response.write = ((chunk: string) => void write(chunk)) as never;
      void sendViews(response, shop.correctable, { request });
    });
    shop.sink.view('old', 'weak');
    const views = fetchViews(LEVELS)(url);
    await views.settle({ enough: () => true });
    shop.sink.view('new', 'strong');
    expect(await views).toBe('new');
  });

  test('a client that does not read on and leaves → the wait for it ends', async () => {
    const shop = create();
    const sent = createGate();
    const url = new URL(
      await serve((request, response) => {
        void sendViews(response, shop.correctable, { request }).then(sent.open);
      }),
    );
    const socket = connect(Number(url.port), url.hostname);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    shop.sink.view('x'.repeat(8_000_000), 'weak');
    await once(socket, 'readable');
    socket.destroy();
    await sent.opened;
    await expect(shop.correctable).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('a connection that served a canceled reply to HEAD → serves the next request', async () => {
    const shops = [create(), create()];
    for (const { sink } of shops) sink.view('old', 'weak');
    const waiting = [...shops];
    const url = new URL(
      await serve(
        (request, response) => void sendViews(response, waiting.shift()!.correctable, { request }),
      ),
    );
    const socket = connect(Number(url.port), url.hostname);
    cleanUps.push(() => socket.destroy());
    socket.write('HEAD / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    await expect(shops[0]?.correctable).rejects.toMatchObject({ code: 'ABORTED' });
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(String(await once(socket, 'data'))).toContain('200 OK');
  });
});

describe('over HTTP/2', () => {
  test('a stream that the client resets → the operation is canceled, and the others go on', async () => {
    const shops = [create(), create()];
    const sent = shops.map(() => createGate());
    const client = await connectHttp2((request, response) => {
      const index = Number(request.url.slice(1));
      const shop = shops[index]!;
      void sendViews(response, shop.correctable, { request }).then(sent[index]!.open);
    });
    for (const { sink } of shops) sink.view('old', 'weak');
    const [left, staying] = ['/0', '/1'].map((path) => client.request({ ':path': path }));
    await Promise.all([once(left!, 'data'), once(staying!, 'data')]);
    left!.close(http2.constants.NGHTTP2_CANCEL);
    await expect(shops[0]!.correctable).rejects.toMatchObject({ code: 'ABORTED' });
    await sent[0]!.opened;
    shops[1]!.sink.view('new', 'strong');
    expect(String(await once(staying!, 'data'))).toContain('"final":true');
    expect(await shops[1]!.correctable).toBe('new');
  });

  test('a client that has left before the handler replies → canceled, and nothing is written', async () => {
    const shop = create();
    const arrived = createGate<http2.Http2ServerResponse>();
    const client = await connectHttp2((_request, response) => arrived.open(response));
    const stream = client.request({ ':path': '/' });
    const response = await arrived.opened;
    const closed = once(response, 'close');
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await closed;
    const write = vi.spyOn(response, 'write');
    shop.sink.view('old', 'weak');
    await sendViews(response, shop.correctable);
    expect(write).not.toHaveBeenCalled();
    await expect(shop.correctable).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('writes nothing after the application has ended the response', async () => {
    const shop = create();
    const sent = createGate();
    const client = await connectHttp2((request, response) => {
      void sendViews(response, shop.correctable, { request, onError: () => {} }).then(sent.open);
      response.end();
      shop.sink.view('late', 'strong');
    });
    client.request({ ':path': '/' }).resume();
    await sent.opened;
  });

  test('a value larger than the window of a stream → arrives whole', async () => {
    const shop = create();
    const client = await connectHttp2(
      (request, response) => void sendViews(response, shop.correctable, { request }),
    );
    shop.sink.view('x'.repeat(3_000_000), 'strong');
    let length = 0;
    for await (const chunk of client.request({ ':path': '/' })) length += (chunk as Buffer).length;
    expect(length).toBeGreaterThan(3_000_000);
  });
});
