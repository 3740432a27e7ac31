/** Sessions over HTTP: a page sees its own writes, also if another server replies. */
// @rule HV-6
import { describe, expect, test } from 'vitest';
import {
  createHttpSession,
  fetchViews,
  formatSessionCookie,
  readSessionTokens,
  respondWithViews,
  sendViews,
  SESSION_HEADER,
} from '../../../src/http/index.ts';
import { correctable, type Session } from '../../../src/index.ts';

const LEVELS = ['weak', 'strong'] as const;

/** A session of a store that has seen these tokens, and sees one more with each view. */
function createSession(
  tokens: readonly string[],
  seen: () => string,
): Session & { readonly isClosed: boolean } {
  let isClosed = false;
  return {
    get tokens() {
      return [...tokens, seen()];
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
    },
    [Symbol.dispose]() {
      isClosed = true;
    },
  };
}

test('tokens → in the header, or in the cookie', () => {
  const tokens = ['o0.a-_.sig', 'odd: ;,"=token'];
  const cookie = formatSessionCookie(tokens);
  expect(cookie).toMatch(
    /^correctables-session=[^;, "]+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const [pair = ''] = cookie.split(';');
  expect(readSessionTokens({ headers: { cookie: `a=1; ${pair}; b=2` } })).toEqual(tokens);
  const value = pair.slice(SESSION_HEADER.length + 1);
  expect(
    readSessionTokens({
      headers: new Headers({ [SESSION_HEADER]: value, cookie: 'correctables-session=x' }),
    }),
  ).toEqual(tokens);
  expect(readSessionTokens({ headers: {} })).toEqual([]);
  expect(readSessionTokens({ headers: { cookie: 'correctables-session=%' } })).toEqual([]);
  expect(formatSessionCookie([], { path: '/shop', isSecure: false, maxAgeSeconds: 60 })).toBe(
    'correctables-session=; Path=/shop; HttpOnly; SameSite=Lax; Max-Age=60',
  );
});

test('a cookie that browsers would drop → INVALID_ARGUMENT', () => {
  const fits = 'x'.repeat(4_096 - `${SESSION_HEADER}=`.length);
  expect(formatSessionCookie([fits])).toContain('x; Path=/');
  expect(() => formatSessionCookie([`${fits}x`])).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'tokens',
      message: expect.stringContaining(
        'the cookie has 4097 bytes, and browsers drop one of more than 4096',
      ) as string,
    }),
  );
});

test('a page with a session → sends what it has seen, and takes what each reply has seen', async () => {
  let seen = 0;
  const received: (readonly string[])[] = [];
  const serverSessions: ReturnType<typeof createSession>[] = [];
  const serve = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const request = new Request('https://shop.test/', init);
    received.push(readSessionTokens(request));
    const session = createSession([], () => `seen-${seen}`);
    serverSessions.push(session);
    const { correctable: views, sink } = correctable(LEVELS).withSink<number>();
    sink.view((seen += 1), 'weak');
    setImmediate(() => sink.view((seen += 1), 'strong'));
    return respondWithViews(views, { request, session });
  };
  // As the state of a framework keeps it.
  const session = new Proxy(Object.freeze(createHttpSession()), {});
  const request = () => fetchViews(LEVELS)('/', { session, fetch: serve as typeof fetch });
  await request();
  expect(session.tokens).toEqual(['seen-2']);
  await request();
  expect(session.tokens).toEqual(['seen-4']);
  expect(received).toEqual([[], ['seen-2']]);
  await expect.poll(() => serverSessions.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test('two requests at once → the page keeps what both have seen, until one reply covers it', async () => {
  const session = createHttpSession(['before']);
  const reply = async (token: string): Promise<Response> => {
    const line = `${JSON.stringify({ level: 'strong', value: 1, final: true, session: [token] })}\n`;
    return new Response(line, { headers: { 'content-type': 'application/x-ndjson' } });
  };
  const fetchWith = (token: string) =>
    fetchViews(LEVELS)('/', { session, fetch: (() => reply(token)) as unknown as typeof fetch });
  await Promise.all([fetchWith('a'), fetchWith('b')]);
  expect(session.tokens.toSorted()).toEqual(['a', 'b']);
  await fetchWith('both');
  expect(session.tokens).toEqual(['both']);
});

test('the client leaves before it has read a reply → the session is closed', async () => {
  const session = createSession([], () => 'seen');
  const { correctable: views, sink } = correctable(LEVELS).withSink<number>();
  sink.view(1, 'weak');
  const { body } = await respondWithViews(views, { session });
  // The stream has taken the first view by then, and waits for a reader.
  await new Promise((resolve) => setImmediate(resolve));
  await body?.cancel();
  expect(session.isClosed).toBe(true);
  await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
});

test('a reply to HEAD whose body is dropped, as by Hono → the session is closed', async () => {
  const session = createSession([], () => 'seen');
  const { correctable: views, sink } = correctable(LEVELS).withSink<number>();
  sink.view(1, 'weak');
  await respondWithViews(views, {
    session,
    request: new Request('https://shop.test/', { method: 'HEAD' }),
  });
  await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => session.isClosed).toBe(true);
});

test('the response of Node has sent its headers already → the error is thrown, and the session is closed', async () => {
  const session = createSession([], () => 'seen');
  const { correctable: views, sink } = correctable(LEVELS).withSink<number>();
  sink.view(1, 'weak');
  const headersSent = new Error('headers are sent');
  const ignore = (): boolean => true;
  const writeHead = (): never => {
    throw headersSent;
  };
  const response = {
    destroyed: false,
    on: ignore,
    off: ignore,
    write: ignore,
    end: ignore,
    writeHead,
  };
  await expect(sendViews(response, views, { session })).rejects.toBe(headersSent);
  expect(session.isClosed).toBe(true);
  await expect(views).rejects.toMatchObject({ code: 'ABORTED' });
});

test('a reply that fails → takes its tokens too', async () => {
  const session = createHttpSession();
  const body = JSON.stringify({
    error: { code: 'CONFLICT', message: 'again', retryable: true },
    session: ['seen'],
  });
  const serve = async (): Promise<Response> => new Response(body, { status: 409 });
  await expect(
    fetchViews(LEVELS)('/', { session, fetch: serve as typeof fetch }),
  ).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  expect(session.tokens).toEqual(['seen']);
});

/** A token as a site of a RedBlue service makes it. */
const seal = (site: number, vector: readonly number[]): string =>
  `o${site}.${Buffer.from(JSON.stringify(vector)).toString('base64url')}.signature${vector.join('')}`;

describe('many concurrent replies', () => {
  /** The tokens that a page has after these replies, in the order in which they arrived. */
  async function collect(tokens: readonly string[]): Promise<readonly string[]> {
    const session = createHttpSession();
    const waiting = [...tokens];
    const reply = async (): Promise<Response> => {
      const line = { level: 'strong', value: 1, final: true, session: [waiting.shift()] };
      return new Response(`${JSON.stringify(line)}\n`, {
        headers: { 'content-type': 'application/x-ndjson' },
      });
    };
    const request = () => fetchViews(LEVELS)('/', { session, fetch: reply as typeof fetch });
    await Promise.all(tokens.map(request));
    return session.tokens;
  }

  test('a token that has seen all that another has → stands for both, whichever comes first', async () => {
    const replies = [seal(0, [3, 4]), seal(0, [250, 250]), seal(1, [9, 251]), seal(0, [7, 8])];
    expect(await collect(replies)).toEqual([seal(0, [250, 250]), seal(1, [9, 251])]);
    expect(await collect([seal(0, [1]), seal(1, [1, 0])])).toHaveLength(1);
  });

  test('tokens without an order → the latest that fit into one header, and into a cookie', async () => {
    const tokens = Array.from({ length: 250 }, (_, index) => `token-${index}-${'x'.repeat(70)}`);
    const after = await collect(tokens);
    expect(after).toEqual(tokens.slice(-after.length));
    expect(after.length).toBeGreaterThan(40);
    const cookie = formatSessionCookie(tokens);
    expect(cookie.length).toBeLessThan(4_096);
    expect(readSessionTokens({ headers: { cookie } }).slice(0, -1)).toEqual(after.slice(0, -1));
  });

  test('tokens that are not readable → stay', async () => {
    const odd = ['o0.e30.x', 'o0.!.x', 'o0.WyJ4Il0.x', 'plain', 'plain'];
    expect(await collect(odd)).toEqual(odd.slice(0, -1));
  });
});
