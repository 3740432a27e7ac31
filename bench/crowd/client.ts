/** A client process with many connections, each with one operation in flight. */
import { randomUUID } from 'node:crypto';
import { closedLoop, timeRun } from '../load/loops.ts';
import { WRITTEN, type ClientOrder, type ClientReport, type Workload } from '../load/messages.ts';
import { KEYS } from '../load/mix.ts';
import { VerifiedWrites } from '../load/verify-writes.ts';
import { openAsk, type Ask, type CrowdKind, type CrowdOperation } from './requests.ts';

/** The opening balance of each account: so high that no withdrawal is ever refused. */
const OPENING_CENTS = 1_000_000_000;
const OPERATIONS: Partial<Record<Workload, CrowdOperation>> = {
  deposit: 'deposit',
  withdraw: 'withdraw',
  read: 'balance',
};

const [, , kind, url, connections] = process.argv as [string, string, CrowdKind, string, string];
const accounts = Array.from({ length: KEYS }, (_, n) => `key:${n}`);
const written = new VerifiedWrites(process.pid.toString(36));
const idle: Ask[] = [];
for (let n = 0; n < Number(connections); n += 1)
  idle.push(await openAsk(kind, url, randomUUID().replaceAll('-', '')));
for (let n = 0; n < KEYS; n += 1) await run('deposit', n, OPENING_CENTS);

process.on('message', (order: ClientOrder | typeof WRITTEN) => {
  void (order === WRITTEN ? report() : measure(order)).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });

/**
 * Runs one operation on a connection without an operation in flight. There are as many loops as
 * connections.
 */
async function run(name: CrowdOperation, n: number, cents: number): Promise<unknown> {
  if (name !== 'balance' && kind !== 'echo')
    written.book(n % KEYS, name === 'deposit' ? cents : -cents);
  const ask = idle.pop() as Ask;
  const result = await ask(name, accounts[n % KEYS] as string, cents);
  idle.push(ask);
  return result;
}

function report(): Promise<unknown> {
  const value = (): never => {
    throw new Error('a crowd writes no values');
  };
  // Run one after the other, because a connection has at most one operation in flight.
  let last: Promise<unknown> = Promise.resolve();
  return written.report({ value, balance: (n) => (last = last.then(() => run('balance', n, 0))) });
}

async function measure({ workload, window, durationMs }: ClientOrder): Promise<ClientReport> {
  const name = OPERATIONS[workload];
  if (name === undefined) throw new Error(`a crowd does not do ${workload}`);
  written.begin();
  return timeRun(() => closedLoop((n) => run(name, n, 1), window, durationMs));
}
