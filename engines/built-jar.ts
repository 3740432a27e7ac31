/** Jars of our own, built by Maven once for each content of their sources. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EngineUnavailable } from './engine.ts';
import { downloadsFolder } from './folders.ts';
import { requireCommand } from './maven.ts';

const run = promisify(execFile);

/** A Maven project whose `target` property says where it builds. */
export interface JarProject {
  readonly folder: string;
  /** The file name of the jar. */
  readonly jar: string;
}

/**
 * The path of the jar. Its unit tests are run before it is used.
 *
 * @throws EngineUnavailable where Maven or a JDK is missing, or the build fails
 */
export async function builtJar(
  { folder, jar }: JarProject,
  progress: (text: string) => void,
): Promise<string> {
  const content = createHash('sha256');
  for (const file of sources(folder)) content.update(readFileSync(file));
  const target = join(
    downloadsFolder('maven'),
    `${jar.replace(/\.jar$/, '')}-${content.digest('hex').slice(0, 12)}`,
  );
  const built = join(target, jar);
  if (existsSync(built)) return built;
  requireCommand('mvn', `Maven builds ${jar}: install Maven 3.6 or later`);
  progress(`building ${jar} (once)`);
  const partial = mkdtempSync(`${target}.`);
  try {
    await run('mvn', ['-q', '-B', '-f', join(folder, 'pom.xml'), 'package', `-Dtarget=${partial}`]);
    if (!existsSync(target)) renameSync(partial, target);
  } catch (error) {
    throw new EngineUnavailable(`${jar} could not be built: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return built;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('target'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}
