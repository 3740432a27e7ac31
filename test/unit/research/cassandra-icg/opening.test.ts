/** How a client and a node come together: greeting, passwords, certificates. */
import { describe, expect, test } from 'vitest';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import { challengeBody, responseFrame } from './bodies.ts';
import { ScriptedNode } from './scripted-node.ts';
import { TLS_CERT, TLS_KEY } from './test-certificate.ts';
import { answer, codeOf, open, tryOpen, VIEWS } from './reads.ts';

describe('opening', () => {
  test('a node without preliminary replies → no path, and the connection is closed', async () => {
    await using node = await ScriptedNode.start({ isCorrectable: false });
    expect(await tryOpen(node.address)).toBeUndefined();
    await node.until(({ peers }) => peers[0]?.socket.destroyed === true);
  });

  test('no server, another kind of server, a silent one, another version → a typed error', async () => {
    const gone = await ScriptedNode.start();
    const { address } = gone;
    await gone.stop();
    expect(await failureOf(tryOpen(address))).toBe('CONNECTION_LOST');

    await using stranger = await ScriptedNode.start({
      onRequest(_request, peer) {
        peer.send(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'));
        return true;
      },
    });
    expect(await failureOf(tryOpen(stranger.address))).toBe('PROTOCOL');

    await using silent = await ScriptedNode.start({ onRequest: () => true });
    expect(await failureOf(tryOpen(silent.address, { connectTimeoutMs: 50 }))).toBe(
      'CONNECTION_LOST',
    );

    await using newer = await ScriptedNode.start({
      onRequest({ stream }, peer) {
        peer.send(
          responseFrame({ stream, opcode: OPCODE.error, body: Buffer.alloc(0), version: 0x85 }),
        );
        return true;
      },
    });
    await expect(tryOpen(newer.address)).rejects.toThrow('protocol version 5; version 4 is needed');
  });
});

describe('authentication', () => {
  const credentials = { username: 'ada', password: 'lövely' };
  const token = Buffer.from('\0ada\0lövely');
  /** Asks for user and password, with `challenges` questions in between. */
  const guarded = (challenges: number): Promise<ScriptedNode> =>
    ScriptedNode.start({
      onExecute: answer,
      onRequest({ opcode, stream, body }, peer) {
        if (opcode === OPCODE.startup)
          peer.reply(stream, OPCODE.authenticate, Buffer.from('\0\u0002PA'));
        else if (opcode !== OPCODE.authResponse) return false;
        else if (challenges-- > 0)
          peer.reply(stream, OPCODE.authChallenge, challengeBody(Buffer.from('PLAIN-START')));
        else if (body.subarray(4).equals(token))
          peer.reply(stream, OPCODE.authSuccess, Buffer.of(255, 255, 255, 255));
        else peer.error(stream, 0x0100);
        return true;
      },
    });

  test.each([0, 1])('the right password, %i challenges → reads', async (challenges) => {
    await using node = await guarded(challenges);
    await using opened = await open(node.address, { settings: { credentials } });
    expect(await opened.read().over).toEqual(VIEWS);
  });

  test('none, a wrong one, a mechanism with more questions → AUTHENTICATION', async () => {
    await using node = await guarded(0);
    expect(await failureOf(tryOpen(node.address))).toBe('AUTHENTICATION');
    const wrong = { ...credentials, password: 'x' };
    expect(await failureOf(tryOpen(node.address, { settings: { credentials: wrong } }))).toBe(
      'AUTHENTICATION 0x100',
    );
    await using other = await guarded(5);
    expect(await failureOf(tryOpen(other.address, { settings: { credentials } }))).toBe(
      'AUTHENTICATION',
    );
  });
});

describe('TLS', () => {
  const tls = { key: TLS_KEY, cert: TLS_CERT };

  test('a certificate that is trusted → reads', async () => {
    await using node = await ScriptedNode.start({ tls, onExecute: answer });
    await using opened = await open(node.address, { settings: { tls: { ca: TLS_CERT } } });
    expect(await opened.read().over).toEqual(VIEWS);
  });

  test('one that is not, or no TLS at the other end → CONNECTION_LOST', async () => {
    await using node = await ScriptedNode.start({ tls });
    await expect(tryOpen(node.address, { settings: { tls: {} } })).rejects.toThrow('self-signed');
    await using bare = await ScriptedNode.start();
    expect(
      await failureOf(tryOpen(bare.address, { connectTimeoutMs: 200, settings: { tls: {} } })),
    ).toBe('CONNECTION_LOST');
  });
});

async function failureOf(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => 'none',
    (error: unknown) => codeOf(error),
  );
}
