/** Where a result comes from: what somebody else needs to get it again, or to see why he gets another one. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { versionIn } from '../../engines/maven.ts';

const ENGINES = { cassandra: 'cassandra-all', zookeeper: 'zookeeper' } as const;

export interface Provenance {
  /** What gets it again, at this commit. */
  readonly command: string;
  /** When it was begun, in UTC. */
  readonly at: string;
  /** `+` where files had been changed since. */
  readonly commit: string;
  readonly machine: Readonly<Record<string, string | number>>;
  /** Of Node, engines and drivers. */
  readonly versions: Readonly<Record<string, string>>;
  /** Of Node, for what was measured. */
  readonly flags: readonly string[];
}

/** What only the benchmark knows. */
export interface Known {
  /** Of engines and drivers that were measured beside this package. */
  readonly versions?: Readonly<Record<string, string>> | undefined;
  readonly flags?: readonly string[] | undefined;
}

export function provenance({ versions = {}, flags = [] }: Known): Provenance {
  const [cpu] = cpus();
  return {
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    at: new Date(performance.timeOrigin).toISOString(),
    commit: commit(),
    machine: {
      cpu: cpu?.model ?? 'unknown',
      cores: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    versions: { node: process.versions.node, v8: process.versions.v8, ...versions },
    flags,
  };
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

/** Not every package lets its `package.json` be required: it is looked for above the file that is imported. */
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

function described(path: string): { readonly name?: string; readonly version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { name?: string; version?: string };
  } catch {
    return undefined;
  }
}

function commit(): string {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    return `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return 'unknown: not in a git clone';
  }
}
