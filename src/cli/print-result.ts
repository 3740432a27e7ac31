/** Prints the result of an action of a command. */
import type { RawOptions } from './options.ts';
import { printLines } from './print.ts';

/** Prints the result as a JSON line with `--json`, else as text. */
export function printResult(options: RawOptions, result: object, text: string): Promise<void> {
  return printLines([options['json'] === true ? JSON.stringify(result) : text]);
}
