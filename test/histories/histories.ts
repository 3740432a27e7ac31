/** Drives one engine through faults, and judges the reported views. */
import type { History } from './history.ts';

export interface HistoriesOptions {
  /**
   * When operations and faults end, by `performance.now()`; healing, reading and judging come
   * after.
   */
  readonly untilMs: number;
  /** What operations and faults are drawn from. */
  readonly seed: number;
  readonly history: History;
  /** Gets lines for a person. */
  readonly progress: (line: string) => void;
}

export interface HistoriesReport {
  /** Calls by kind. */
  readonly operations: Readonly<Record<string, number>>;
  /** The number of calls by their outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What was done to networks, servers and clients, by kind. */
  readonly injected: Readonly<Record<string, number>>;
  /** What cannot be, one line each. */
  readonly faults: readonly string[];
  readonly serversAlive: boolean;
}

export interface Histories {
  readonly name: string;
  run(options: HistoriesOptions): Promise<HistoriesReport>;
}
