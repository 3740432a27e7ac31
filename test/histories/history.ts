/** What happened in a run, call by call: all that checkers are given beside the final state. */
import { closeSync, openSync, writeSync } from 'node:fs';

/** One view that a caller got. */
export interface ReportedView {
  readonly level: string;
  readonly value: unknown;
  readonly atMs: number;
  readonly meta?: unknown;
}

/** One call. Times in milliseconds of one clock that never goes back (`performance.now()`). */
export interface Call {
  /** Who called: calls of one session go through one binding. */
  readonly session: string;
  readonly kind: string;
  readonly key: string;
  readonly input?: unknown;
  /** The levels that were asked for; all of the binding's unless given. */
  readonly levels?: readonly string[];
  readonly beginMs: number;
  /** Absent while it is under way. */
  endMs?: number;
  /** `success`, or the code of the error. */
  outcome?: string;
  isRetryable?: boolean;
  output?: unknown;
  views?: readonly ReportedView[];
}

export class History implements Disposable {
  readonly #calls: Call[] = [];
  readonly #file: number | undefined;

  /**
   * @param file where to write each call down once it has ended, a line of JSON each; nowhere
   * unless given
   */
  constructor(file?: string) {
    this.#file = file === undefined ? undefined : openSync(file, 'w');
  }

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Adds a call. One that is still under way is written down by `ended`. */
  record(call: Call): Call {
    this.#calls.push(call);
    if (call.endMs !== undefined) this.ended(call);
    return call;
  }

  ended(call: Call): void {
    if (this.#file !== undefined) writeSync(this.#file, `${JSON.stringify(call, plain)}\n`);
  }

  /** Writes down what never ended, too. */
  [Symbol.dispose](): void {
    for (const call of this.#calls) if (call.endMs === undefined) this.ended(call);
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

function plain(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
