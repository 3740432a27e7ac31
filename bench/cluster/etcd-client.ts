/**
 * A client process of a bare etcd: `etcd-client.ts HOST:PORT`. Each operation writes a value under
 * a key of its own, and ends once it is acknowledged and a watch has delivered it. A site has to do
 * the same for a red operation.
 */
import * as grpc from '@grpc/grpc-js';
import { runLoop, timeRun } from '../load/loops.ts';

/** The message to the process that starts a run. */
export interface EtcdOrder {
  /** Size of each value. */
  readonly bytes: number;
  /**
   * The rate of an open loop. Default: each loop of the window runs one operation after the other
   */
  readonly perSecond?: number | undefined;
  readonly window: number;
  readonly durationMs: number;
}

const PREFIX = '/bench/';
const PREFIX_END = '/bench0';
const [, , address] = process.argv as [string, string, string];
const client = new grpc.Client(address, grpc.credentials.createInsecure());
/** The operations that wait for their event, by key. */
const unseen = new Map<string, () => void>();
let puts = 0;

const watch = client.makeBidiStreamRequest('/etcdserverpb.Watch/Watch', toBytes, toBytes);
watch.on('error', (error) => {
  throw error;
});
await new Promise<void>((resolve) => {
  watch.on('data', (response: Buffer) => {
    resolve();
    for (const event of readParts(response, 11)) onEvent(event);
  });
  watch.write(part(1, Buffer.concat([part(1, PREFIX), part(2, PREFIX_END)])));
});
process.send?.({ ready: true });
process.on('message', ({ bytes, ...order }: EtcdOrder) => {
  const value = Buffer.alloc(bytes, 1);
  void timeRun(() => runLoop(() => putAndSee(value), order)).then((report) =>
    process.send?.(report),
  );
});
process.on('disconnect', () => process.exit());

async function putAndSee(value: Buffer): Promise<void> {
  puts += 1;
  const key = `${PREFIX}${puts}`;
  const seen = new Promise<void>((resolve) => unseen.set(key, resolve));
  const stored = new Promise<void>((resolve, reject) => {
    const request = Buffer.concat([part(1, key), part(2, value)]);
    client.makeUnaryRequest('/etcdserverpb.KV/Put', toBytes, toBytes, request, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  await Promise.all([stored, seen]);
}

function onEvent(event: Buffer): void {
  const [pair = Buffer.alloc(0)] = readParts(event, 2);
  const key = String(readParts(pair, 1)[0]);
  unseen.get(key)?.();
  unseen.delete(key);
}

function toBytes(bytes: Buffer): Buffer {
  return bytes;
}

/** Encodes a field of a message: bytes, or another message. */
function part(field: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  const head: number[] = [(field << 3) | 2];
  let length = bytes.length;
  for (; length > 127; length >>= 7) head.push((length & 127) | 128);
  return Buffer.concat([Buffer.from([...head, length]), bytes]);
}

/** Returns the contents of all fields with this number: bytes, or other messages. */
function readParts(message: Buffer, field: number): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length;) {
    const readNumber = (): number => {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = message[at++] as number;
        value += (byte & 127) * scale;
        if (byte < 128) return value;
      }
    };
    const head = readNumber();
    const size = readNumber();
    if ((head & 7) !== 2) continue;
    if (head >> 3 === field) parts.push(message.subarray(at, at + size));
    at += size;
  }
  return parts;
}
