/**
 * The history of a run in a file, one JSON line each. Lines are written at once and not kept in
 * memory: an hour has millions of them, and their garbage collection would interrupt the measured
 * process for seconds.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { HistoryLine } from './request.ts';

/** A history that is being written. */
export interface HistoryFile {
  write(line: HistoryLine): void;
  /** @throws the error if lines could not be written */
  close(): Promise<void>;
}

/** Begins a file at `path`; without a path, lines are dropped. */
export function openHistory(path: string | undefined): HistoryFile {
  if (path === undefined) return { write: () => {}, close: () => Promise.resolve() };
  const file = createWriteStream(path);
  const closed = once(file, 'close');
  // `close()` reports it, not this promise.
  closed.catch(() => {});
  return {
    write: (line) => void file.write(`${JSON.stringify(line)}\n`),
    async close() {
      file.end();
      await closed;
    },
  };
}
