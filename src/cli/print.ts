/**
 * Prints the output of commands on stdout, and errors on stderr. Node decides whether a stream
 * shows colors: `NO_COLOR` switches them off, `FORCE_COLOR` on.
 */
import { styleText } from 'node:util';

const { stdout, stderr } = process;
const write = stdout.write.bind(stdout);

// Whether a module has ended stdout. A closed pipe does not set this: only the write that fails
// reports it.
let hasStdoutEnded = false;
stdout.once('finish', () => (hasStdoutEnded = true));

/**
 * Redirects the output of modules to stderr until the returned function is called. With `--json`,
 * stdout must contain only the JSON.
 */
export function redirectModuleOutput(): () => void {
  let isOver = false;
  const toStderr = stderr.write.bind(stderr);
  stdout.write = ((...given: Parameters<typeof write>) =>
    (isOver ? write : toStderr)(...given)) as typeof write;
  return () => {
    isOver = true;
  };
}

/**
 * Prints lines. A reader may close the pipe early. Throws if they cannot be written, as on a full
 * disk.
 */
export async function printLines(lines: readonly string[]): Promise<void> {
  await printWhileRead(lines);
}

/** As `printLines`. Resolves with `false` if the reader has closed the pipe. */
export async function printWhileRead(lines: readonly string[]): Promise<boolean> {
  const hasModuleEnded = hasStdoutEnded || stdout.writableEnded;
  const problem = await waitUntilWritten(lines.map((line) => `${line}\n`).join(''));
  if (problem === undefined) return true;
  if (!hasModuleEnded && 'code' in problem && problem.code === 'EPIPE') return false;
  const message = hasModuleEnded ? 'a module has ended stdout' : problem.message;
  throw new Error(`what was found cannot be printed: ${message}`, { cause: problem });
}

/**
 * Resolves once a text and everything before it is written. Resolves with the error if it cannot be
 * written.
 */
export function waitUntilWritten(text: string): Promise<Error | undefined> {
  return new Promise((resolve) => {
    // The error is also emitted as an event, which would end the process without a listener.
    stdout.once('error', resolve);
    write(text, (error) => {
      if (error) return resolve(error);
      stdout.off('error', resolve);
      resolve(undefined);
    });
  });
}

/** Prints `error: MESSAGE` on stderr. */
export function printError(message: string): void {
  console.error(`${styleText('red', 'error:', { stream: stderr })} ${message}`);
}

/** The colors of verdicts. */
const VERDICT_COLORS = { bad: 'red', good: 'green' } as const;

/** Returns a verdict that goes to stdout, colored on a terminal. */
export function colorVerdict(text: string, verdict: keyof typeof VERDICT_COLORS): string {
  return styleText(VERDICT_COLORS[verdict], text, { stream: stdout });
}

/** Returns whether both outputs of this process show colors. */
export function showsColors(): boolean {
  return [stdout, stderr].every((stream) => stream.isTTY && stream.hasColors());
}
