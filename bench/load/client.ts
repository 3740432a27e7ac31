/** A client process under load. */
import { runLoop, timeRun, type Submit } from './loops.ts';
import { BASELINE_PATH } from './baseline-protocol.ts';
import { WRITTEN, type ClientOrder, type ClientReport, type Workload } from './messages.ts';
import { KEYS, mixOf } from './mix.ts';
import { VerifiedWrites, type Reads } from './verify-writes.ts';

const keys = Array.from({ length: KEYS }, (_, n) => `key:${n}`);
const written = new VerifiedWrites(process.pid.toString(36));
/** The opening balance of each account: so high that no transfer is ever rejected. */
const OPENING_CENTS = 1_000_000_000;
const tell = (message: unknown): void => void process.send?.(message);

const [, , url] = process.argv as [string, string, string];
const { submits, reads } = await opened();
tell({ ready: true });
process.on('message', (order: ClientOrder | typeof WRITTEN) => {
  void (order === WRITTEN ? written.report(reads) : measure(order)).then(tell);
});
process.on('disconnect', () => process.exit());

// An opened target. Each kind loads only the packages that it needs. `ioredis` derives a class from
// `String`. After that, V8 looks up the methods of every string again, which took the client of
// this package a sixth more processor time.

interface Opened {
  readonly submits: Readonly<Record<Exclude<Workload, 'transfer'>, Submit>>;
  readonly reads: Reads;
}

function opened(): Promise<Opened> {
  if (url.startsWith('redis:')) return openRedis();
  return url.endsWith(BASELINE_PATH) ? openDay() : openStore();
}

async function openStore(): Promise<Opened> {
  const { createClient } = await import('correctables');
  const { redblue } = await import('correctables/bindings/redblue');
  const { WebSocket } = await import('ws');
  const { load } = await import('./service.ts');
  const binding = redblue(load, { url, WebSocket });
  await binding.ready;
  const store = createClient(binding);
  const account = (n: number): string => keys[n % KEYS] as string;
  const withdraw: Submit = (n) =>
    store.invoke(load.withdraw({ account: account(n), cents: booked(n, 1, -1) }));
  const deposit: Submit = (n) =>
    store.invoke(load.deposit({ account: account(n), cents: booked(n, 5) }));
  const read: Submit = (n) => store.invokeWeak(load.balance({ account: account(n) }));
  for (let n = 0; n < KEYS; n += 1) {
    await store.invoke(load.deposit({ account: account(n), cents: booked(n, OPENING_CENTS) }));
  }
  return {
    submits: {
      set: (n) => store.invoke(load.set({ key: account(n), value: written.value(n % KEYS) })),
      deposit,
      withdraw,
      read,
      mix: mixOf({ read, deposit, withdraw }),
    },
    reads: { value: (n) => store.invokeWeak(load.value({ key: account(n) })), balance: read },
  };
}

async function openDay(): Promise<Opened> {
  const { connectBaseline } = await import('./baseline-client.ts');
  const call = await connectBaseline(url);
  const account = (n: number): string => keys[n % KEYS] as string;
  const withdraw: Submit = (n) => call('withdraw', account(n), booked(n, 1, -1));
  const deposit: Submit = (n) => call('deposit', account(n), booked(n, 5));
  const read: Submit = (n) => call('balance', account(n));
  for (let n = 0; n < KEYS; n += 1) await call('deposit', account(n), booked(n, OPENING_CENTS));
  return {
    submits: {
      // No read of this key exists, so the report shows that this workload cannot be checked.
      set: (n) => call('set', account(n), written.value(n % KEYS)),
      deposit,
      withdraw,
      read,
      mix: mixOf({ read, deposit, withdraw }),
    },
    reads: { value: () => Promise.resolve('what cannot be read'), balance: read },
  };
}

async function openRedis(): Promise<Opened> {
  const { connectRedis } = await import('./redis-client.ts');
  const redis = connectRedis(url);
  const key = (n: number): string => keys[n % KEYS] as string;
  const set: Submit = (n) => redis.set(key(n), written.value(n % KEYS));
  const read: Submit = (n) => redis.get(key(n));
  return {
    submits: { set, deposit: set, withdraw: set, mix: set, read },
    reads: { value: read, balance: () => Promise.resolve('no account') },
  };
}

/** Records the amount of an operation on an account. `sign` is -1 for a withdrawal. */
function booked(n: number, cents: number, sign: 1 | -1 = 1): number {
  written.book(n % KEYS, sign * cents);
  return cents;
}

async function measure({ workload, ...order }: ClientOrder): Promise<ClientReport> {
  if (workload === 'transfer') throw new Error('clients of bench/transactions make transfers');
  const submit = submits[workload];
  written.begin();
  return timeRun(() => runLoop(submit, order));
}
