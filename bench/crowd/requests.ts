/** The requests of a connection and the expected replies, for each kind of server. */
import { unpack, Packr } from 'msgpackr';
import type { BaselineReply } from '../load/baseline-protocol.ts';
import type { Target } from '../load/messages.ts';
import { openConnection, type Connection } from './connections.ts';

const codec = new Packr({ useRecords: false });

/** The operations of the clients: one blue update, one red update, or one read. */
export type CrowdOperation = 'deposit' | 'withdraw' | 'balance';

/** Runs one operation on one connection; at most one at a time. */
export type Ask = (name: CrowdOperation, account: string, cents: number) => Promise<unknown>;

/** The kinds of servers that can be measured. */
export type CrowdKind = Extract<Target['kind'], 'redblue' | 'day' | 'echo'>;

export function openAsk(kind: CrowdKind, url: string, client: string): Promise<Ask> {
  if (kind === 'day') return openDay(url);
  return kind === 'echo' ? openEcho(url) : openSite(url, client);
}

/** After this many operations, the client of this package sends an `ack`. */
const ACK_STEP = 64;

/** The wire version of this package's client. */
export const VERSION = 6;

/**
 * The levels that the client of this package requests, as bits: `causal` of a read, `strong` of a
 * red update.
 */
const LEVELS = { deposit: 7, withdraw: 4, balance: 1 } as const;

const TIMEOUT_MS = 30_000;

async function openSite(url: string, client: string): Promise<Ask> {
  const connection = await openConnection(url, 'correctables.v1+msgpack');
  const hello = { version: VERSION, client, attempt: 1, levels: ['tentative', 'causal', 'strong'] };
  const [, kind] = onlyRowOf(await connection.ask(codec.pack([[0, 'hello', hello]])));
  if (kind !== 'welcome') throw new Error(`no welcome: ${String(kind)}`);
  let id = 0;
  return async (name, account, cents) => {
    id += 1;
    const answer = connection.ask(submitFrame(id, name, account, cents));
    const row = onlyRowOf(await answer);
    if (row[0] !== id || (row[1] !== 'final' && row[1] !== 'view'))
      throw new Error(`refused: ${JSON.stringify(row)}`);
    if (id % ACK_STEP === 0) connection.send(codec.pack([[id, 'ack']]));
    return row[4];
  };
}

/** The frame that the client of this package sends for it. */
function submitFrame(id: number, name: CrowdOperation, account: string, cents: number): Uint8Array {
  const effect = name === 'balance' ? 'read' : 'write';
  const args = name === 'balance' ? { account } : { account, cents };
  return codec.pack([[id, 'submit', name, effect, LEVELS[name], args, null, TIMEOUT_MS]]);
}

function onlyRowOf(frame: Buffer): readonly unknown[] {
  const rows = unpack(frame) as readonly (readonly unknown[])[];
  const [row] = rows;
  if (rows.length !== 1 || row === undefined)
    throw new Error(`not one row: ${JSON.stringify(rows)}`);
  return row;
}

async function openDay(url: string): Promise<Ask> {
  const connection = await openConnection(url);
  let id = 0;
  return async (name, account, cents) => {
    const call = name === 'balance' ? [++id, name, account] : [++id, name, account, cents];
    const [, result, error] = onlyRowOf(
      await connection.ask(codec.pack([call])),
    ) as unknown as BaselineReply;
    if (error !== undefined) throw new Error(error);
    return result;
  };
}

/** Connects to a bare echo. Sends the same bytes as to a site, and gets them back. */
async function openEcho(url: string): Promise<Ask> {
  const connection: Connection = await openConnection(url);
  let id = 0;
  return async (name, account, cents) => {
    const row = onlyRowOf(await connection.ask(submitFrame(++id, name, account, cents)));
    if (row[0] !== id) throw new Error(`not an echo: ${JSON.stringify(row)}`);
    return row[0];
  };
}
