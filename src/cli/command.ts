/** What a command of `correctables` consists of: `main.ts` lists them all. */
import type { RawOptions } from './options.ts';

/** A flag as it is typed, what it is for, and what it is unless given. */
export type Flag = readonly [typed: string, what: string, unlessGiven?: string | number];

/** One command. */
export interface Command {
  readonly name: string;
  /** What it does, in the list of commands. */
  readonly summary: string;
  /** The one word that it takes beside flags, and what such a word names; none unless given. */
  readonly argument?: { readonly typed: `<${string}>`; readonly names: string };
  readonly flags: readonly Flag[];
  readonly example: string;
  /** Whether it runs in a thread of its own (`own-thread.ts`). */
  readonly runsInWorkerThread?: boolean;
  /**
   * Runs it, with its flags as they were typed. What it takes of the server it imports here: whoever asks for another
   * command, or is told of a mistake, does not wait for that.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` naming the flag or the word at fault
   */
  run(options: RawOptions, word: string | undefined): Promise<void> | void;
}
