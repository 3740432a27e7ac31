/** Programs in Rust, built once for each content of their sources. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EngineUnavailable } from './engine.ts';
import { downloadsFolder } from './folders.ts';

const run = promisify(execFile);

/** A folder with `main.rs`, `Cargo.toml` and `Cargo.lock`, and the name of its binary. */
export interface RustProgram {
  readonly name: string;
  readonly folder: string;
}

/**
 * Returns the path of the program.
 *
 * @throws EngineUnavailable if Cargo is missing, or cannot fetch the crates
 */
export async function builtRustProgram(
  { name, folder }: RustProgram,
  progress: (text: string) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['main.rs', 'Cargo.toml', 'Cargo.lock'])
    hash.update(readFileSync(join(folder, file)));
  const program = join(downloadsFolder(name), `${name}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(program)) return program;
  progress(`building ${name} with Cargo (once)`);
  // Build in a directory of its own and move the program at the end, so that two builds at once do
  // no harm.
  const partial = mkdtempSync(`${program}.`);
  try {
    await run('cargo', ['build', '--release', '--locked', '--quiet', '--target-dir', partial], {
      cwd: folder,
    });
    renameSync(join(partial, 'release', name), program);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const install = 'there is no `cargo` on this machine: install Rust 1.80 or later';
    const reason = isMissing ? install : (error as Error).message;
    throw new EngineUnavailable(`${name} cannot be built: ${reason}`, { cause: error });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return program;
}
