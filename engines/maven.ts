/** Java libraries from Maven Central, through the ordinary client, into the folder of downloads. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadsFolder } from './folders.ts';
import { EngineUnavailable } from './engine.ts';

const run = promisify(execFile);

/** Properties of a pom file that are to be others than it says, by name. */
export type Properties = Readonly<Record<string, string>>;

/**
 * The folder with the libraries of a pom file: fetched once for each content of the file, and its
 * properties.
 *
 * @throws EngineUnavailable where Maven or Java is missing, or nothing can be fetched
 */
export async function librariesOf(
  pomFile: string,
  progress: (text: string) => void,
  properties: Properties = {},
): Promise<string> {
  const target = folderOf(pomFile, properties);
  if (existsSync(target)) return target;
  requireCommand('mvn', 'Maven fetches the engine: install Maven 3.6 or later');
  progress('fetching the libraries with Maven (once)');
  // Fetched beside and moved at the end: a broken download is never taken for a whole one.
  const partial = mkdtempSync(`${target}.`);
  try {
    const output = [`-DoutputDirectory=${partial}`, '-DincludeScope=runtime'];
    const input = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
    const args = ['-q', '-B', '-f', pomFile, 'dependency:copy-dependencies', ...output, ...input];
    await run('mvn', args, { cwd: dirname(pomFile) });
    if (!existsSync(target)) renameSync(partial, target);
  } catch (error) {
    throw new EngineUnavailable(`Maven could not fetch ${pomFile}: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return target;
}

/** Whether the libraries of a pom file have been fetched. */
export function hasLibrariesOf(pomFile: string): boolean {
  return existsSync(folderOf(pomFile));
}

/** The version of a library that a pom file asks for. */
export function versionIn(pomFile: string, artifact: string): string {
  const pom = readFileSync(pomFile, 'utf8');
  const requested = new RegExp(`<artifactId>${artifact}</artifactId>\\s*<version>([^<]+)`).exec(
    pom,
  )?.[1];
  const property = requested === undefined ? undefined : /^\$\{(.+)\}$/.exec(requested)?.[1];
  const found =
    property === undefined ? requested : new RegExp(`<${property}>([^<]+)`).exec(pom)?.[1];
  if (found === undefined) throw new Error(`${pomFile} does not say which ${artifact} it asks for`);
  return found;
}

function folderOf(pomFile: string, properties: Properties = {}): string {
  const content = createHash('sha256').update(readFileSync(pomFile));
  for (const property of Object.entries(properties)) content.update(property.join('='));
  return join(downloadsFolder('maven'), content.digest('hex').slice(0, 12));
}

/** @throws EngineUnavailable with `hint` unless the command is there */
export function requireCommand(command: string, hint: string): void {
  try {
    execFileSync(command, ['-version'], { stdio: 'ignore' });
  } catch (error) {
    throw new EngineUnavailable(`${command} is missing: ${hint}`, { cause: error });
  }
}

/**
 * The command that starts Java of that version: the one of `JAVA_HOME`, otherwise the one on the
 * path.
 *
 * @throws EngineUnavailable where it is missing or of another version
 */
export function requireJava(version: number, purpose: string): string {
  const home = process.env['JAVA_HOME'];
  const command = home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
  const hint = `${purpose}: install a JDK ${version} and let JAVA_HOME or the path name it`;
  const { error, stderr } = spawnSync(command, ['-version'], { encoding: 'utf8' });
  if (error !== undefined)
    throw new EngineUnavailable(`${command} is missing: ${hint}`, { cause: error });
  const found = /version "(\d+)/.exec(stderr)?.[1];
  if (found === String(version)) return command;
  throw new EngineUnavailable(`${command} is Java ${found ?? 'of an unknown version'}: ${hint}`);
}
