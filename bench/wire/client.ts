/**
 * A client process of the benchmark: it runs concurrent loops, each of which awaits one operation
 * after the other.
 */
import { createClient } from 'correctables';
import { remote } from 'correctables/bindings/remote';
import { put } from 'correctables/operations';
import { counted, CountedSocket } from './counting-socket.ts';
import { openEcho } from './echo.ts';
import {
  cpuUsedUs,
  type BytesPerOp,
  type ClientOrder,
  type ClientReport,
  type Mode,
  type Run,
  type ViewsReport,
} from './messages.ts';

const KEYS = 1000;
const keys = Array.from({ length: KEYS }, (_, n) => `key:${n}`);
/** 16 bytes. */
const VALUE = '0123456789abcdef';

type Submit = (n: number) => PromiseLike<unknown>;

/** The bytes per operation in the present run. */
let carried: BytesPerOp | undefined;

const tell = (message: unknown): void => void process.send?.(message);

/** The number of operations whose views are counted. They are not timed. */
const COUNTED = 100;

const [, , mode, url] = process.argv as [string, string, Mode, string];
let countViews: () => Promise<number> = async () => 0;
const submit = mode.startsWith('gateway') ? await openGateway() : await openEchoing();
tell({ ready: true });
process.on('message', (order: ClientOrder) => {
  void (order === 'views' ? reportViews() : measure(order.run)).then(tell);
});
process.on('disconnect', () => process.exit());

/** Each call is a `put`, whose Correctable is awaited for its final view. */
async function openGateway(): Promise<Submit> {
  const binding = remote({ url, levels: ['weak', 'strong'], WebSocket: CountedSocket });
  await binding.ready;
  const store = createClient(binding);
  if (mode === 'gateway-views') {
    const invoke = (n: number) => store.invoke(put(keys[n % KEYS] as string, VALUE));
    countViews = async () => {
      let views = 0;
      for (let n = 0; n < COUNTED; n += 1) await invoke(n).onUpdate(() => (views += 1));
      return views;
    };
    return invoke;
  }
  return (n) => store.invokeStrong(put(keys[n % KEYS] as string, VALUE));
}

async function openEchoing(): Promise<Submit> {
  const send = await openEcho(url, () => carried);
  return (n) => send(['put', 'write', 2, { key: keys[n % KEYS], value: VALUE }, keys[n % KEYS]]);
}

async function reportViews(): Promise<ViewsReport> {
  return { views: await countViews(), of: COUNTED };
}

async function measure({ window, durationMs, bytes }: Run): Promise<ClientReport> {
  carried = bytes;
  const { sent, received } = counted;
  const cpuFrom = cpuUsedUs();
  const from = performance.now();
  const operations = await drive(window, durationMs);
  const [elapsedMs, cpuUs] = [performance.now() - from, cpuUsedUs() - cpuFrom];
  const perOp = {
    sent: (counted.sent - sent) / operations,
    received: (counted.received - received) / operations,
  };
  return { operations, elapsedMs, cpuUs, bytes: perOp };
}

async function drive(window: number, durationMs: number): Promise<number> {
  let operations = 0;
  const time = { isOver: false };
  setTimeout(() => (time.isOver = true), durationMs);
  const loop = async (): Promise<void> => {
    while (!time.isOver) await submit(operations++);
  };
  await Promise.all(Array.from({ length: window }, loop));
  return operations;
}
