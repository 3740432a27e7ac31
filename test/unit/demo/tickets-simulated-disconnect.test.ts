/** The cable that a person can pull out: nothing passes while it is out. */
import { expect, test, vi } from 'vitest';
import { SimulatedDisconnect, type Socket } from '../../../demo/tickets/page/simulated-disconnect.ts';

class FakeSocket implements Socket {
  static readonly opened: FakeSocket[] = [];
  binaryType: BinaryType = 'arraybuffer';
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;
  onerror: Socket['onerror'] = null;
  readonly send = vi.fn();
  readonly close = vi.fn();

  constructor() {
    FakeSocket.opened.push(this);
  }
}

function open(cable: SimulatedDisconnect): { socket: Socket; onclose: ReturnType<typeof vi.fn> } {
  const socket = new cable.WebSocket('ws://127.0.0.1/frankfurt', ['any']);
  const onclose = vi.fn();
  socket.onclose = onclose;
  return { socket, onclose };
}

test('cable: cut → open sockets close abnormally, once, and deliver nothing more', () => {
  const cable = new SimulatedDisconnect(FakeSocket);
  const { socket, onclose } = open(cable);
  socket.onmessage = vi.fn();
  cable.cut();
  cable.cut();
  expect(onclose).toHaveBeenCalledOnce();
  expect(onclose).toHaveBeenCalledWith(expect.objectContaining({ code: 1006 }));
  expect((socket as FakeSocket).close).toHaveBeenCalledOnce();
  expect(socket.onmessage).toBeNull();
});

test('cable: cut → new sockets do not connect, and fail in a later task', async () => {
  const cable = new SimulatedDisconnect(FakeSocket);
  cable.cut();
  const before = FakeSocket.opened.length;
  const { onclose } = open(cable);
  expect(FakeSocket.opened).toHaveLength(before);
  expect(onclose).not.toHaveBeenCalled();
  await Promise.resolve();
  expect(onclose).toHaveBeenCalledOnce();
});

test('cable: mended → new sockets are real again', () => {
  const cable = new SimulatedDisconnect(FakeSocket);
  cable.cut();
  cable.mend();
  expect(open(cable).socket).toBeInstanceOf(FakeSocket);
});
