/** The parts of a command of `correctables`. `main.ts` lists all commands. */
import type { RawOptions } from './options.ts';

export interface Flag {
  /**
   * The flag as it is typed: `--port <n>`, `--json` if it takes no value, or `--accept-loss [logs]`
   * if it may be typed without one.
   */
  readonly typed: string;
  readonly text: string;
  readonly defaultValue?: string | number;
  /** The title of the flag's group in the help. */
  readonly group?: string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The words that the command takes besides flags, and what they name. Default: none */
  readonly argument?: { readonly typed: `<${string}>`; readonly names: string };
  /** The values of the first word, if it takes only these, each with its help text. */
  readonly actions?: readonly (readonly [name: string, what: string])[];
  readonly flags: readonly Flag[];
  readonly example: string;
  /** Whether the command runs in a separate thread (`worker-thread.ts`). */
  readonly runsInWorkerThread?: boolean;
  /**
   * Runs the command with its flags as they were typed. A command imports the server in this
   * function, so that other commands and usage errors do not wait for the import.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` naming the flag or the word at fault
   */
  run(options: RawOptions, ...words: readonly (string | undefined)[]): Promise<void> | void;
}
