/**
 * The history of a run in a file, one JSON line each. A line is written as it comes and kept nowhere: those of an hour are
 * millions, and collecting garbage among them would stop, for seconds, who is measured.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { HistoryLine } from './request.ts';

/** A history that is being written. */
export interface HistoryFile {
  write(line: HistoryLine): void;
  /** @throws what kept lines from being written */
  close(): Promise<void>;
}

/** Begins a file at `path`; without one, lines are written nowhere. */
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
