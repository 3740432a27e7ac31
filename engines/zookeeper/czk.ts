/** The jar with preliminary replies (`engines/zookeeper-czk`), built once for each content of its sources. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EngineUnavailable } from '../engine.ts';
import { downloadsFolder } from '../folders.ts';
import { requireCommand } from '../maven.ts';

const run = promisify(execFile);

const PROJECT = fileURLToPath(new URL('../zookeeper-czk/', import.meta.url));
const JAR = 'zookeeper-czk.jar';

/** The main class of a server with preliminary replies. */
export const CZK_MAIN = 'org.apache.zookeeper.server.quorum.CzkMain';

/**
 * The path of the jar. Its unit tests are run before it is used.
 *
 * @throws EngineUnavailable where Maven or a JDK is missing, or the build fails
 */
export async function czkJar(progress: (text: string) => void): Promise<string> {
  const content = createHash('sha256');
  for (const file of sources(PROJECT)) content.update(readFileSync(file));
  const target = join(downloadsFolder('maven'), `czk-${content.digest('hex').slice(0, 12)}`);
  const jar = join(target, JAR);
  if (existsSync(jar)) return jar;
  requireCommand('mvn', 'Maven builds the jar with preliminary replies: install Maven 3.6 or later');
  progress('building the jar with preliminary replies (once)');
  const partial = mkdtempSync(`${target}.`);
  try {
    await run('mvn', ['-q', '-B', '-f', join(PROJECT, 'pom.xml'), 'package', `-Dtarget=${partial}`]);
    if (!existsSync(target)) renameSync(partial, target);
  } catch (error) {
    throw new EngineUnavailable(`the jar could not be built: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return jar;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('target'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
}
