/** Programs in Go, built once for each content of their sources. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EngineUnavailable } from './engine.ts';
import { downloadsFolder } from './folders.ts';

const run = promisify(execFile);

/** A folder with `main.go`, `go.mod` and `go.sum`, and what the program is called. */
export interface GoProgram {
  readonly name: string;
  readonly folder: string;
}

/**
 * The path of the program.
 *
 * @throws EngineUnavailable where Go is missing, or cannot fetch the modules
 */
export async function builtGoProgram(
  { name, folder }: GoProgram,
  progress: (text: string) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  const program = join(downloadsFolder(name), `${name}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  progress(`building ${name} with Go (once)`);
  // Built beside and moved at the end: two that build at once do no harm to each other.
  const partial = `${program}.${process.pid}`;
  try {
    await run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', partial, '.'], { cwd: folder });
    renameSync(partial, program);
  } catch (error) {
    const { version } =
      /^go (?<version>\S+)/m.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.groups ?? {};
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const install = `there is no \`go\` on this machine: install Go ${version} or later`;
    const reason = isMissing ? install : (error as Error).message;
    throw new EngineUnavailable(`${name} cannot be built: ${reason}`, { cause: error });
  } finally {
    rmSync(partial, { force: true });
  }
  return program;
}
