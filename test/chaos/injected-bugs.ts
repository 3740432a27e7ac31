/**
 * Bugs that a run has to catch: a run that catches none proves nothing. They are made by replacing
 * a few lines in a copy of the built package, so that nothing in the package can be switched to
 * them.
 */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Site } from '../../engines/wan.ts';
import { copyPackage, type Replacements } from '../support/patched-package.ts';
import type { Build } from './deployment.ts';
import type { Plan, PlannedFault } from './faults/plan.ts';
import type { Engine } from './options.ts';
import type { Scenario } from './run.ts';

export interface InjectedBug {
  /** The rule that it breaks. */
  readonly rule: string;
  /** What may keep the red log. Default: the built-in engine */
  readonly engines?: readonly Engine[];
  /** Checkers of which one has to notice. */
  readonly caughtBy: readonly string[];
  /** What makes it likely to show. */
  readonly scenario: Scenario;
  readonly replacements: Replacements;
}

const LONG_MS = 60_000;

/** A link is slow from the first moment on, until all is healed. */
function slowLink(site: Site, peer: Site): PlannedFault {
  return { kind: 'slow', site, peer, pauseMs: 0, lastsMs: LONG_MS, amountMs: 800 };
}

function repeated(fault: Omit<PlannedFault, 'amountMs'>): PlannedFault[] {
  return Array.from({ length: 20 }, () => ({ ...fault, amountMs: 0 }));
}

/**
 * Kills the server beside each site in turn: that site connects to another one, and reads what it
 * lacks.
 */
function killedServers(): PlannedFault[] {
  const kill = {
    kind: 'etcd-kill',
    peer: 'virginia',
    pauseMs: 300,
    lastsMs: 500,
    amountMs: 0,
  } as const;
  return (['ireland', 'frankfurt', 'virginia'] as const).map((site) => ({ ...kill, site }));
}

function planOf(plan: Partial<Plan>): Plan {
  return { clients: [], network: [], nodes: [], etcd: [], ...plan };
}

/** All bugs by name. */
export const INJECTED_BUGS: Readonly<Record<string, InjectedBug>> = {
  'no-certification': {
    rule: 'a red operation commits only if what it read has not changed',
    caughtBy: ['exactly once', 'red registers'],
    engines: ['built-in', 'etcd'],
    scenario: { workload: 'mixed', plan: planOf({}) },
    replacements: [['const conflict = this.findConflict(record);', 'const conflict = void 0;']],
  },
  'no-gate': {
    rule: 'a red operation becomes visible only after the blue operations that it depends on',
    caughtBy: ['causal views'],
    // The red order overtakes what Virginia sends to Frankfurt.
    scenario: {
      workload: 'payments',
      plan: planOf({ network: [slowLink('virginia', 'frankfurt')] }),
    },
    replacements: [['mayPass(record) {', 'mayPass() { return true;']],
  },
  'blue-before-its-causes': {
    rule: 'a blue operation becomes visible only after what it depends on',
    caughtBy: ['causal views', 'causal registers'],
    // What Virginia has from Ireland overtakes what Ireland sends to Frankfurt.
    scenario: { workload: 'blue', plan: planOf({ network: [slowLink('ireland', 'frankfurt')] }) },
    replacements: [['isVisible(operation, site) {', 'isVisible() { return true;']],
  },
  'sessions-forgotten': {
    rule: 'a site answers a session only once it has what the session has seen',
    caughtBy: ['causal views', 'causal registers'],
    scenario: {
      workload: 'blue',
      plan: planOf({
        network: [slowLink('ireland', 'frankfurt')],
        clients: repeated({
          kind: 'clients-cut',
          site: 'ireland',
          peer: 'frankfurt',
          pauseMs: 2_000,
          lastsMs: 1_000,
        }),
      }),
    },
    replacements: [['isCovered(vector) {', 'isCovered() { return true;']],
  },
  'names-forgotten': {
    rule: 'an operation that is submitted again under its name takes effect once',
    caughtBy: ['exactly once', 'repeats'],
    scenario: { workload: 'retries', plan: planOf({}) },
    // No name is found that was decided before.
    replacements: [['find(id, hop) {', 'find() { return void 0;']],
  },
  'old-copies-run': {
    rule: 'a node that starts on an older copy of its directory stops',
    caughtBy: ['outcomes'],
    scenario: {
      workload: 'blue',
      plan: planOf({
        nodes: [
          {
            kind: 'old-copy',
            site: 'virginia',
            peer: 'ireland',
            pauseMs: 0,
            lastsMs: 4_000,
            amountMs: 0,
          },
        ],
      }),
    },
    // Other sites notice it in several ways, and one is enough. With the bug the node does not stop
    // in any of them.
    replacements: [['this.#hasStopped = true;', 'return;']],
  },
  'read-not-compared': {
    rule: 'a transaction commits only if each version that it has read is still there',
    caughtBy: ['bank', 'exactly once'],
    engines: ['built-in', 'etcd'],
    scenario: { workload: 'bank', plan: planOf({}) },
    replacements: [['const changed = reads.filter(', 'const changed = reads.slice(1).filter(']],
  },
  'unknown-run-again': {
    rule: 'a transaction whose outcome is unknown is never run again',
    caughtBy: ['exactly once'],
    engines: ['built-in', 'etcd'],
    // The bug is in the users: they do what the library never does.
    scenario: { workload: 'careless-bank', plan: planOf({}) },
    replacements: [],
  },
  'groups-sent-once': {
    rule: 'a group that was sent to etcd is sent again until it is read there',
    caughtBy: ['convergence', 'exactly once', 'queues'],
    engines: ['etcd'],
    scenario: { workload: 'mixed', plan: planOf({ etcd: killedServers() }) },
    replacements: [
      [
        'for (const group of this.#sent) [group.isAsked, group.storedAtMs] = [false, void 0];',
        'this.#sent.length = 0;',
      ],
    ],
  },
  'groups-read-by-key': {
    rule: 'sites take the groups of etcd in the order of their revisions',
    caughtBy: ['convergence', 'exactly once', 'red registers', 'queues'],
    engines: ['etcd'],
    scenario: { workload: 'mixed', plan: planOf({ etcd: killedServers() }) },
    replacements: [
      ['lane?.entries[0]?.modRevision ?? Infinity', 'lane?.entries[0] === void 0 ? Infinity : 0'],
    ],
  },
};

/**
 * Writes a copy of the built package with some lines replaced into an empty directory, and the
 * service.
 */
export async function buildPatched(directory: string, replacements: Replacements): Promise<Build> {
  const cli = await copyPackage(directory, replacements);
  // A service has to be made by the package that serves it.
  for (const name of ['service.ts', 'contract.ts', 'bank-service.ts']) {
    await cp(fileURLToPath(new URL(name, import.meta.url)), join(directory, name));
  }
  return { cli, service: join(directory, 'service.ts') };
}
