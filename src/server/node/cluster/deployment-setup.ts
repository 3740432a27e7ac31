/**
 * The settings on which all nodes of a deployment must agree. They come from the cluster files when
 * the deployment is created. If one file differed, no other node could use the messages of its
 * node. So nodes compare their settings when they connect.
 */
import { isRecord } from '../../../correctable/validate.ts';
import { shortenText } from '../alarms/site-alarm.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { PartitionLayout } from '../../service/partitions.ts';
import type { ClusterFile } from './cluster-file.ts';
import type { NodeDirectory } from './node-directory.ts';
import type { RedGeneration } from '../red-log/red-generation.ts';

export interface DeploymentSetup {
  /** The engine of the red log. */
  readonly engine: string;
  /**
   * The generation of the built-in red log, and its leader; `null` while the log is being restored.
   * With several logs it has the leaders of the others.
   */
  readonly red?: RedGeneration | undefined;
  /**
   * The sites with which the deployment was created, in order; `undefined` if they are not known
   * yet.
   */
  readonly founders?: readonly string[] | undefined;
  /**
   * The partitions beside `main`; `undefined` if there are none. Their leaders may change, so they
   * are compared as those of a generation.
   */
  readonly partitions?: readonly Omit<PartitionLayout, 'leader'>[] | undefined;
}

/** A site and its setup. Another site may have sent any value. */
export interface SetupOfSite {
  readonly site: string;
  readonly setup: unknown;
}

/**
 * Describes the setup of a node. A node that joins, or whose site does not run yet, does not know
 * the whole setup.
 *
 * @param running the sites of the deployment if the site runs, otherwise `false`
 */
export function describeSetup(
  { redLog: { engine }, partitions: layouts }: ClusterFile,
  { identity, hasData, founders }: NodeDirectory,
  red: RedGeneration,
  running: Origins | false,
): DeploymentSetup {
  const partitions = layouts.length === 0 ? undefined : layouts.map(getLayout);
  if (identity.origin === null) return { engine, partitions };
  return {
    engine,
    partitions,
    founders: running ? running.founders : hasData ? undefined : founders,
    red: engine === 'built-in' ? red : undefined,
  };
}

/** Describes the first setting on which two sites do not agree, by the field of `cluster.json`. */
export function findSetupProblem(own: SetupOfSite, other: SetupOfSite): string | undefined {
  const [here, there] = [own.setup, other.setup].map((setup) => (isRecord(setup) ? setup : {}));
  const differ = (field: string, ownValue: unknown, otherValue: unknown): string | undefined => {
    const [ownText, otherText] = [ownValue, otherValue].map((value) => shortenText(String(value)));
    if (ownValue === undefined || otherValue === undefined || ownText === otherText)
      return undefined;
    return `${field} of cluster.json is ${otherText} at ${other.site}, and ${ownText} at ${own.site}: start both with the same file`;
  };

  return (
    differ('redLog.engine', here?.['engine'], there?.['engine']) ??
    differ('partitions', formatLayouts(here), formatLayouts(there)) ??
    differ('the order of sites', formatSites(here), formatSites(there)) ??
    differ('redLog.leader', ...getLeaders(here?.['red'], there?.['red'])) ??
    differ('partitions', ...getLogs(here?.['red'], there?.['red']))
  );
}

/** Returns what never changes of a partition. */
function getLayout({ name, voters }: PartitionLayout): Omit<PartitionLayout, 'leader'> {
  return voters === undefined ? { name } : { name, voters };
}

function formatLayouts(setup: Readonly<Record<string, unknown>> | undefined): string {
  const layouts = setup?.['partitions'];
  return layouts === undefined ? 'left out' : JSON.stringify(layouts);
}

function formatSites(setup: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const founders = setup?.['founders'];
  return Array.isArray(founders) ? founders.join(', ') : undefined;
}

/**
 * Returns both leaders of one generation. A site that has missed a later generation follows it once
 * it is connected.
 */
function getLeaders(own: unknown, other: unknown): [unknown, unknown] {
  return getOfOneGeneration(own, other, ({ leader }) => leader ?? undefined);
}

/** The same for the logs of the partitions beside `main`. */
function getLogs(own: unknown, other: unknown): [unknown, unknown] {
  return getOfOneGeneration(own, other, ({ logs }) =>
    Array.isArray(logs) ? JSON.stringify(logs) : undefined,
  );
}

function getOfOneGeneration(
  own: unknown,
  other: unknown,
  get: (red: Readonly<Record<string, unknown>>) => unknown,
): [unknown, unknown] {
  if (!isRecord(own) || !isRecord(other) || own['generation'] !== other['generation'])
    return [undefined, undefined];
  return [get(own), get(other)];
}
