/**
 * Bugs that a run has to catch: a run that catches none proves nothing. They are made by replacing a few lines in a copy of
 * the built package, so that nothing in the package can be switched to them.
 */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Build } from './deployment.ts';
import type { FaultKind } from './faults/plan.ts';
import type { WorkloadName } from './workload.ts';

export interface InjectedBug {
  /** The rule that it breaks. */
  readonly rule: string;
  /** Checkers of which one has to notice. */
  readonly caughtBy: readonly string[];
  /** The faults that make it likely to show. */
  readonly faults: readonly FaultKind[];
  readonly workload?: WorkloadName;
  /** Each text stands once in the built package. */
  readonly replacements: readonly (readonly [from: string, to: string])[];
}

/** All bugs by name. */
export const INJECTED_BUGS: Readonly<Record<string, InjectedBug>> = {
  'no-certification': {
    rule: 'a red operation commits only if what it read has not changed',
    caughtBy: ['exactly once', 'red registers'],
    faults: ['slow'],
    replacements: [['const conflict = this.findConflict(record);', 'const conflict = void 0;']],
  },
  'no-gate': {
    rule: 'a red operation becomes visible only after the blue operations that it depends on',
    caughtBy: ['causal views', 'causal registers'],
    faults: ['slow', 'cut-one-way'],
    workload: 'blue',
    replacements: [['return isCovered(record.snapshot, this.#core.state.stable, 0);', 'return true;']],
  },
  'blue-before-its-causes': {
    rule: 'a blue operation becomes visible only after what it depends on',
    caughtBy: ['causal views', 'causal registers'],
    faults: ['slow', 'cut-one-way'],
    workload: 'blue',
    replacements: [['return isCovered(operation.vector, this.core.state.stable, site);', 'return true;']],
  },
  'sessions-forgotten': {
    rule: 'a site answers a session only once it has what the session has seen',
    caughtBy: ['causal views', 'causal registers'],
    faults: ['clients-cut', 'slow', 'isolate'],
    workload: 'blue',
    replacements: [['return vector === void 0 || isCovered(vector, this.#stable());', 'return true;']],
  },
  'restart-forgets-names': {
    rule: 'an operation that is submitted again after a restart takes effect once',
    caughtBy: ['exactly once', 'repeats', 'queues'],
    faults: ['kill'],
    replacements: [['this.lookups.slots.restore(id, hop, decision);', '']],
  },
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Writes a copy of the built package with a bug into an empty directory. */
export async function buildWithBug(directory: string, { replacements }: InjectedBug): Promise<Build> {
  const dist = join(directory, 'dist');
  await mkdir(directory, { recursive: true });
  await cp(join(ROOT, 'dist'), dist, { recursive: true, filter: (from) => !/\.(map|d\.ts)$/.test(from) });
  await cp(join(ROOT, 'package.json'), join(directory, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  for (const [from, to] of replacements) await replaceOnce(dist, from, to);
  // A service has to be made by the package that serves it.
  for (const name of ['service.ts', 'contract.ts']) {
    await cp(fileURLToPath(new URL(name, import.meta.url)), join(directory, name));
  }
  return { cli: join(dist, 'cli', 'main.js'), service: join(directory, 'service.ts') };
}

async function replaceOnce(dist: string, from: string, to: string): Promise<void> {
  const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'));
  const found: (readonly [file: string, text: string])[] = [];
  for (const name of files) {
    const text = await readFile(join(dist, name), 'utf8');
    if (text.includes(from)) found.push([join(dist, name), text]);
  }
  const [file = '', text = ''] = found[0] ?? [];
  if (found.length !== 1 || text.split(from).length !== 2) {
    throw new Error(
      `"${from}" has to stand once in the built package, to be replaced: change test/chaos/injected-bugs.ts`,
    );
  }
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}
