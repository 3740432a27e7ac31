/**
 * A store of rows in SQLite, for comparison: `node:sqlite`, which Node has from version 22 on. It
 * is synchronous, so a worker commits, and this thread only reads.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type {
  RowBatch,
  RowSnapshot,
  RowStore,
} from '../../src/server/node/storage/rows/row-store.ts';

interface Statement {
  get(key: Uint8Array): { readonly value: Uint8Array } | undefined;
}

interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

/** The part of `node:sqlite` that is used. Its types come with those of Node 22. */
interface SqliteModule {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly: boolean }) => Database;
}

const SELECT = 'SELECT value FROM entries WHERE key = ?';

const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
database.exec('CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID');
const put = database.prepare('INSERT OR REPLACE INTO entries VALUES (?, ?)');
const remove = database.prepare('DELETE FROM entries WHERE key = ?');
parentPort.on('message', ({ puts, removals }) => {
  try {
    database.exec('BEGIN');
    for (const [key, value] of puts) put.run(key, value);
    for (const key of removals) remove.run(key);
    database.exec('COMMIT');
    parentPort.postMessage(undefined);
  } catch (error) {
    try { database.exec('ROLLBACK'); } catch { /* The transaction has ended. */ }
    parentPort.postMessage(error);
  }
});
parentPort.postMessage(undefined);
`;

export class SqliteRowStore implements RowStore {
  readonly #module: SqliteModule;
  readonly #file: string;
  readonly #worker: Worker;
  readonly #reader: Database;
  readonly #select: Statement;

  private constructor(module: SqliteModule, file: string, worker: Worker) {
    this.#module = module;
    this.#file = file;
    this.#worker = worker;
    this.#reader = new module.DatabaseSync(file, { readOnly: true });
    this.#select = this.#reader.prepare(SELECT);
  }

  static async open(folder: string): Promise<SqliteRowStore> {
    const module = (await import('node:sqlite' as string)) as SqliteModule;
    await mkdir(folder, { recursive: true });
    const file = join(folder, 'rows.db');
    const worker = new Worker(WORKER, { eval: true, workerData: file });
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    return new SqliteRowStore(module, file, worker);
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#select.get(key)?.value;
  }

  createBatch(): RowBatch {
    const puts: (readonly [Uint8Array, Uint8Array])[] = [];
    const removals: Uint8Array[] = [];
    return {
      put: (key, value) => void puts.push([key, value]),
      remove: (key) => void removals.push(key),
      commit: (done) => {
        this.#worker.once('message', done);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        this.#worker.postMessage({ puts, removals });
      },
      discard: () => {},
    };
  }

  openSnapshot(): RowSnapshot {
    const reader = new this.#module.DatabaseSync(this.#file, { readOnly: true });
    reader.exec('BEGIN');
    const select = reader.prepare(SELECT);
    // A transaction has its state from its first read on.
    select.get(new Uint8Array());
    return { get: (key) => select.get(key)?.value, close: () => reader.close() };
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
    this.#reader.close();
  }
}
