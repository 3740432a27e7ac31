/** What commands print on stdout. */

const { stdout, stderr } = process;
const write = stdout.write.bind(stdout);

/** A program that reads the line of `--json` is not to find before it what a module prints: until then that is on stderr. */
export function divertModules(): void {
  stdout.write = stderr.write.bind(stderr);
}

/**
 * Prints lines. Whoever has read enough of them may go away.
 *
 * @throws Error where they cannot be written, as on a full disk
 */
export async function print(lines: readonly string[]): Promise<void> {
  stdout.write = write;
  const problem = await written(lines.map((line) => `${line}\n`).join(''));
  if (problem === undefined || ('code' in problem && problem.code === 'EPIPE')) return;
  throw new Error(`what was found cannot be printed: ${problem.message}`, { cause: problem });
}

function written(text: string): Promise<Error | undefined> {
  return new Promise((resolve) => {
    // It is told twice, and would end the process where nobody listens.
    stdout.once('error', resolve);
    write(text, (error) => {
      if (error) return resolve(error);
      stdout.off('error', resolve);
      resolve(undefined);
    });
  });
}
