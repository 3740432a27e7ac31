/**
 * One socket under the transport's control: what it reports, and that it reports nothing once it
 * was dropped.
 */
import { describe, expect, test } from 'vitest';
import { SocketHandle } from '../../../../src/transport/connection/connection.ts';
import { FakeSocket, settled } from '../fake-platform.ts';

/** A socket and its reported events. */
function handled(more: object = {}) {
  const socket = Object.assign(new FakeSocket('ws://server.test/', []), more);
  const reported: unknown[] = [];
  const handle = new SocketHandle(socket, {
    onOpen: () => reported.push('opened'),
    onFrame: (frame) => reported.push(frame),
    onClose: (code, reason) => reported.push([code, reason]),
  });
  return { socket, reported, handle };
}

const fails = (): never => {
  throw new Error('no');
};

test('made → its messages come as bytes, not as what has to be asked for them', () => {
  expect(handled().socket.binaryType).toBe('arraybuffer');
});

describe('dropped', () => {
  test('its peer goes on → nothing is reported, nothing is sent', () => {
    const { socket, reported, handle } = handled();
    handle.terminate();
    handle.send('[[1,"ping"]]');
    socket.open();
    socket.receiveText('[]');
    socket.lose();
    expect([reported, socket.sent, socket.closedByClient]).toEqual([[], [], true]);
  });

  test('ends without waiting for its peer where the socket can', () => {
    let ends = 0;
    const { socket, handle } = handled({ terminate: () => void (ends += 1) });
    handle.terminate();
    expect([ends, socket.closedByClient]).toEqual([1, false]);
  });
});

describe('fails', () => {
  test('as it sends → reported once, as a socket that ended without a code', async () => {
    const { socket, reported, handle } = handled({ send: fails });
    handle.send('[]');
    expect(reported).toEqual([]);
    await settled();
    socket.lose();
    expect(reported).toEqual([[1006, 'sending failed: no']]);
  });

  test('as it closes → reported, since the platform will not', async () => {
    const { reported, handle } = handled({ close: fails });
    handle.close();
    await settled();
    expect(reported).toEqual([[1006, 'closing failed']]);
  });
});
