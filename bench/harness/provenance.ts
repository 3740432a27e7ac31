/**
 * The provenance of a result: the facts that others need to repeat it, or to find out why their
 * result differs.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { versionIn } from '../../engines/maven.ts';

const ENGINES = { cassandra: 'cassandra-all', zookeeper: 'zookeeper' } as const;

/** The directories to which benchmarks write. */
const WRITTEN = ['bench/results', 'docs/figures'];

/** The environment variables that change how processes run. */
const SETTINGS = ['BENCH_SERVER_FLAGS', 'BENCH_CLIENT_FLAGS', 'NODE_OPTIONS'];

export interface Provenance {
  /** The command that repeats the run, at this commit. */
  readonly command: string;
  /** When it was begun, in UTC. */
  readonly date: string;
  /**
   * The commit, with `+` if files were changed since. Files that benchmarks write do not count,
   * because benchmarks do not read them.
   */
  readonly commit: string;
  readonly machine: Readonly<Record<string, string | number>>;
  /** Of Node, engines and drivers. */
  readonly versions: Readonly<Record<string, string>>;
  /** Of Node, for what was measured. */
  readonly flags: readonly string[];
}

/**
 * Returns the facts that must be read before the measurement, because files may be changed during
 * it.
 */
export function provenance(): Omit<Provenance, 'flags'> {
  const [cpu] = cpus();
  return {
    command: [
      ...SETTINGS.flatMap(formatSetting),
      'npm run bench --',
      ...process.argv.slice(2).map(quoted),
    ].join(' '),
    date: new Date(performance.timeOrigin).toISOString(),
    commit: createCommit(fileURLToPath(new URL('../../', import.meta.url))),
    machine: {
      cpu: cpu?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { node: process.versions.node, v8: process.versions.v8 },
  };
}

function formatSetting(name: string): string[] {
  const value = process.env[name];
  return value === undefined || value === '' ? [] : [`${name}=${quoted(value)}`];
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The versions of these packages that are installed. */
export function versionsOf(...packages: readonly string[]): Record<string, string> {
  return Object.fromEntries(packages.map((name) => [name, versionOf(name)]));
}

/** The version of an engine that `engines/` starts. */
export function versionOfEngine(engine: keyof typeof ENGINES): Record<string, string> {
  const pom = fileURLToPath(new URL(`../../engines/${engine}/pom.xml`, import.meta.url));
  return { [engine]: versionIn(pom, ENGINES[engine]) };
}

/**
 * Returns the version of a package. Not every package exports its `package.json`, so it is searched
 * above the file that is imported.
 */
function versionOf(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  for (;;) {
    const found = described(join(folder, 'package.json'));
    if (found?.name === name && found.version !== undefined) return found.version;
    const above = dirname(folder);
    if (above === folder) throw new Error(`${name}: nothing says what version it is`);
    folder = above;
  }
}

function described(
  path: string,
): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { name?: string; version?: string };
  } catch {
    return undefined;
  }
}

/** Returns the commit of the working tree in a directory. */
export function createCommit(cwd: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '.', ...WRITTEN.map((path) => `:!${path}`));
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : '+'}`;
  } catch {
    return 'unknown: not in a git clone';
  }
}
