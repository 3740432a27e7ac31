/** A client process that makes transfers, with as many in flight as the order specifies. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { keyValue } from 'correctables/contract';
import { get, put } from 'correctables/operations';
import { WebSocket } from 'ws';
import { runLoop, timeRun, type Submit } from '../load/loops.ts';
import { WRITTEN, type ClientOrder, type ClientReport } from '../load/messages.ts';
import { KEYS } from '../load/mix.ts';
import { VerifiedWrites } from '../load/verify-writes.ts';
import type { Way } from './messages.ts';
import { bank } from './service.ts';
import { transferOne } from './transfer.ts';

/** The opening balance of each account: so high that no transfer is ever refused. */
const OPENING_CENTS = 1_000_000_000;

interface Bank {
  readonly transfer: (from: string, to: string) => PromiseLike<unknown>;
  readonly balance: (account: string) => PromiseLike<unknown>;
}

const [, , url, way] = process.argv as unknown as [string, string, string, Way];
const keys = Array.from({ length: KEYS }, (_, n) => `account:${n}`);
const written = new VerifiedWrites(process.pid.toString(36));
const tell = (message: unknown): void => void process.send?.(message);

const { transfer, balance } = await (way === 'transaction' ? openKeyValue() : openBank());
for (let n = 0; n < KEYS; n += 1) written.book(n, OPENING_CENTS);
tell({ ready: true });
process.on('message', (order: ClientOrder | typeof WRITTEN) => {
  void (
    order === WRITTEN ? written.report({ value: fail, balance: readBalance }) : measure(order)
  ).then(tell);
});
process.on('disconnect', () => process.exit());

async function openKeyValue(): Promise<Bank> {
  const binding = redblue(keyValue, { url, WebSocket });
  await binding.ready;
  const store = createClient(binding);
  await Promise.all(keys.map((key) => store.invoke(put(key, OPENING_CENTS))));
  return {
    transfer: (from, to) => transferOne(store, from, to),
    balance: (account) => store.invokeWeak(get(account)),
  };
}

async function openBank(): Promise<Bank> {
  const binding = redblue(bank, { url, WebSocket });
  await binding.ready;
  const store = createClient(binding);
  await store.invoke(bank.open({ accounts: keys, cents: OPENING_CENTS }));
  const move = (from: string, to: string): PromiseLike<unknown> =>
    store.invoke(bank.transfer({ from, to, cents: 1 }));
  const readBoth = (from: string, to: string): PromiseLike<unknown> =>
    store.invokeWeak(bank.balances({ accounts: [from, to] }));
  return {
    transfer:
      way === 'red operation' ? move : (from, to) => readBoth(from, to).then(() => move(from, to)),
    balance: (account) =>
      store.invokeWeak(bank.balances({ accounts: [account] })).then(([held]) => held),
  };
}

/** Transfers that are in flight together have no account in common, so none has a conflict. */
const submit: Submit = (n) => {
  const from = (2 * n) % KEYS;
  const to = from + 1;
  written.book(from, -1);
  written.book(to, 1);
  return transfer(keys[from] as string, keys[to] as string);
};

function readBalance(n: number): PromiseLike<unknown> {
  return balance(keys[n] as string);
}

function fail(): never {
  throw new Error('no values are written here');
}

async function measure(order: ClientOrder): Promise<ClientReport> {
  written.begin();
  return timeRun(() => runLoop(submit, order));
}
