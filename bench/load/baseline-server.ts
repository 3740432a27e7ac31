/**
 * The simple baseline server, as an engineer could write it in a day: `ws`, two maps, MessagePack,
 * arguments checked by hand, and an append-only log. Entries of one turn of the event loop are
 * written and synced together before they are answered. It has one site, one view, and does not
 * remember its replies: a client that loses its connection does not know the outcome of its
 * updates.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { Packr } from 'msgpackr';
import { WebSocketServer, type WebSocket } from 'ws';
import { BASELINE_PATH, type BaselineReply, type BaselineCall } from './baseline-protocol.ts';

const codec = new Packr({ useRecords: false });

/** The replies of one connection that wait until the entries before them are synced. */
interface Answers {
  readonly socket: Pick<WebSocket, 'send'>;
  readonly rows: readonly BaselineReply[];
}

/** The file of the log. */
type LogFile = Pick<FileHandle, 'datasync'> & { appendFile(entries: Uint8Array): Promise<unknown> };

/** Syncs entries together, and then sends the replies that depend on them. */
export class GroupCommit {
  readonly #file: LogFile | undefined;
  #entries: BaselineCall[] = [];
  #answers: Answers[] = [];
  #isWriting = false;

  constructor(file: LogFile | undefined) {
    this.#file = file;
  }

  add(entry: BaselineCall): void {
    this.#entries.push(entry);
  }

  answer(answers: Answers): void {
    this.#answers.push(answers);
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#answers.length > 0) {
      const [entries, answers] = [this.#entries, this.#answers];
      this.#entries = [];
      this.#answers = [];
      if (this.#file !== undefined && entries.length > 0) {
        await this.#file.appendFile(codec.pack(entries));
        await this.#file.datasync();
      }
      for (const { socket, rows } of answers) socket.send(codec.pack(rows));
    }
    this.#isWriting = false;
  }
}

/**
 * Holds the values and balances. Returns a function that answers a call. `log` receives the
 * updates.
 */
export function answering(log: Pick<GroupCommit, 'add'>): (call: BaselineCall) => BaselineReply {
  const values = new Map<string, string>();
  const balances = new Map<string, number>();
  const run = (call: BaselineCall): unknown => {
    const [, name, key, value] = call;
    if (typeof key !== 'string' || key === '') throw new Error('the key must be a string');
    if (name === 'balance') return balances.get(key) ?? 0;
    if (name === 'set') {
      if (typeof value !== 'string') throw new Error('the value must be a string');
      values.set(key, value);
    } else {
      if (!Number.isSafeInteger(value)) throw new Error('cents must be an integer');
      const cents = value as number;
      const balance = balances.get(key) ?? 0;
      if (name === 'withdraw' && balance < cents) return false;
      if (name !== 'withdraw' && name !== 'deposit')
        throw new Error(`no operation ${String(name)}`);
      balances.set(key, name === 'withdraw' ? balance - cents : balance + cents);
    }
    log.add(call);
    return name === 'withdraw' ? true : null;
  };
  return (call) => {
    try {
      return [call[0], run(call)];
    } catch (error) {
      return [call[0], null, (error as Error).message];
    }
  };
}

/** Serves on a free loopback port; writes a log if `path` is set. Returns the address. */
export async function serveBaseline(path: string | undefined): Promise<string> {
  const log = new GroupCommit(path === undefined ? undefined : await open(path, 'a'));
  const answerTo = answering(log);
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      log.answer({ socket, rows: (codec.unpack(data) as readonly BaselineCall[]).map(answerTo) });
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as { port: number }).port}${BASELINE_PATH}`;
}
