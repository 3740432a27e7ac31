/** The causes of a lost connection, as the application gets them with each change of state. */
import { describe, expect, test } from 'vitest';
import type { ConnectionOptions } from '../../../src/transport/options/options.ts';
import { settled } from './fake-platform.ts';
import { start, welcome } from './set-up.ts';

/** A client, and its states with their causes. */
function startReported(options: Partial<ConnectionOptions> = {}) {
  const reported: unknown[] = [];
  const onStateChange: ConnectionOptions['onStateChange'] = (state, reason) =>
    reported.push([state, reason?.message]);
  return { reported, ...start({ url: `${URL}?token=secret`, ...options, onStateChange }) };
}

const URL = 'ws://server.test/ireland';
const SITE = `no connection to ${URL}: `;

describe('waiting again', () => {
  test('no answer to a ping is reported as the cause', async () => {
    const { reported, platform } = startReported({
      heartbeatIntervalMs: 1_000,
      pongTimeoutMs: 2_000,
    });
    await welcome(platform);
    platform.advance(3_000);
    expect(reported.at(-1)).toEqual(['waiting', `${SITE}no answer to a ping within 2000 ms`]);
  });

  test('that the server goes away is reported as the cause', async () => {
    const { reported, platform } = startReported();
    await welcome(platform);
    platform.socket.receive([0, 'goaway', 1_000]);
    expect(reported.at(-1)).toEqual(['waiting', `${SITE}the server goes away`]);
  });

  test('the server sends the cause before it closes → reported with its words', async () => {
    const { reported, platform } = startReported();
    await welcome(platform);
    platform.socket.receive([0, 'fail', 'UNAVAILABLE', 'too many clients']);
    platform.socket.lose(1013, 'later');
    expect(reported.at(-1)).toEqual([
      'waiting',
      expect.stringContaining('too many clients (1013)'),
    ]);
  });

  test('that the server takes the client for another is reported as the cause', async () => {
    const { reported, platform } = startReported();
    await welcome(platform, { principal: 'ann' });
    platform.socket.lose();
    platform.advance(50);
    await welcome(platform, { principal: 'bob' });
    expect(reported.at(-1)).toEqual(['waiting', `${SITE}the principal has changed`]);
  });

  test.each([
    [
      'before there is a token: the cause says so',
      true,
      'closed with 1006, before a token was received',
    ],
    ['after hello: the cause says nothing of tokens', false, 'closed with 1006'],
  ])('lost %s', async (_, isPending, detail) => {
    const { reported, platform } = startReported({
      token: () => (isPending ? new Promise(() => {}) : 'token'),
    });
    platform.socket.open();
    await settled();
    platform.socket.lose();
    expect(reported.at(-1)).toEqual(['waiting', SITE + detail]);
  });

  test('lost before it opens, and the platform gives no reason → what may be the cause', () => {
    const { reported, platform } = startReported();
    platform.socket.lose();
    const hint = 'The server cannot be reached, or it refused the connection';
    expect(reported.at(-1)).toEqual([
      'waiting',
      expect.stringContaining(`${SITE}closed with 1006. ${hint}`),
    ]);
  });

  test.each([
    ['that no token comes is reported as the cause', true, 'no token within 1000 ms'],
    ['that no welcome comes is reported as the cause', false, 'no welcome within 1000 ms'],
  ])('%s', async (_, isPending, detail) => {
    const token = (): string | Promise<string> => (isPending ? new Promise(() => {}) : 'token');
    const { reported, platform } = startReported({ token, connectTimeoutMs: 1_000 });
    platform.socket.open();
    await settled();
    platform.advance(1_000);
    expect(reported.at(-1)).toEqual(['waiting', SITE + detail]);
  });
});

describe('closed for good', () => {
  test('that a token which is always the same has expired is reported as the cause', async () => {
    const { reported, platform } = startReported({ token: 'fixed' });
    await welcome(platform);
    platform.socket.lose(4402, 'the token has expired');
    expect(reported.at(-1)).toEqual([
      'closed',
      expect.stringContaining('pass a function, which is called for a new one'),
    ]);
  });

  test('the application closes, and then the server goes away → by the application all the same', async () => {
    const { reported, platform, connection } = startReported();
    await welcome(platform);
    void connection.close();
    platform.socket.receive([0, 'goaway', 1_000]);
    platform.socket.lose(1000);
    expect(reported.at(-1)).toEqual(['closed', 'the connection was closed by the application']);
  });
});
