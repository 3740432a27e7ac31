/**
 * The client of the simple baseline server: one promise for each call, and one frame for all calls
 * of a turn.
 */
import { Packr } from 'msgpackr';
import { WebSocket } from 'ws';
import type { BaselineReply, BaselineCall, BaselineOperationName } from './baseline-protocol.ts';

const codec = new Packr({ useRecords: false });

/** Calls one operation. */
export type CallBaseline = (
  name: BaselineOperationName,
  key: string,
  value?: string | number,
) => Promise<unknown>;

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Connects. */
export async function connectBaseline(url: string): Promise<CallBaseline> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return callsOver(socket);
}

/** Calls over an open connection. */
export function callsOver(socket: {
  send(frame: Uint8Array): void;
  on(event: 'message', hear: (data: Buffer) => void): unknown;
}): CallBaseline {
  const pending = new Map<number, Pending>();
  socket.on('message', (data: Buffer) => {
    for (const [id, result, error] of codec.unpack(data) as readonly BaselineReply[]) {
      const call = pending.get(id);
      pending.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(new Error(error));
    }
  });
  let calls: BaselineCall[] = [];
  let id = 0;
  const flush = (): void => {
    socket.send(codec.pack(calls));
    calls = [];
  };
  return (name, key, value) => {
    const number = ++id;
    if (calls.push(value === undefined ? [number, name, key] : [number, name, key, value]) === 1)
      setImmediate(flush);
    return new Promise((resolve, reject) => pending.set(number, { resolve, reject }));
  };
}
