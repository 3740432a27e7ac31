/**
 * Runs a comparison without a page: starts what the application needs, runs both contenders, and
 * reports.
 */
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Placement } from '../../../engines/wan.ts';
import type { Options, Site } from '../options.ts';
import type { Application } from './application.ts';
import { runAbComparison, type AbComparison } from './ab-comparison.ts';
import { openHistory } from './history-file.ts';
import { compare, type Comparison } from './report.ts';

/** An application with its store and its services. */
export interface Deployment {
  readonly application: Application;
  /** The sizes of the data in the store, for the report. */
  readonly sizes: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** The options that determine how an application is deployed. */
export interface DeploymentOptions extends Pick<
  Options,
  'scale' | 'seed' | 'client' | 'wan' | 'cassandra'
> {
  /** The store. Default: Cassandra with `cassandra`, otherwise RedBlue */
  readonly binding?: Options['binding'] | undefined;
  /** RedBlue: the site that the client uses. Default: its own */
  readonly asks?: Site | undefined;
  /** The placement of the nodes or sites. Default: `paper` */
  readonly placement?: Placement | undefined;
  /**
   * A Cassandra cluster to use. Default: the one that is running, or a new one for this deployment
   */
  readonly cluster?: Cluster | undefined;
}

export type Deploy = (options: DeploymentOptions, progress: Progress) => Promise<Deployment>;

/** The figures of a headless run, beside the sizes of the data by name. */
export interface Figures extends Comparison {
  readonly binding: string;
  readonly workload: string;
}

type Progress = (text: string) => void;

/** The maximum duration of the warm-up, after which the code of reads is compiled. */
const WARM_UP_SECONDS_MAX = 20;
const WARM_UP_WORKERS = 32;

/** Runs what `options` describe. `progress` gets lines for a person. */
export async function runHeadless(
  deploy: Deploy,
  options: Options,
  progress: Progress,
): Promise<Figures & Record<string, unknown>> {
  const { binding, workload } = options;
  const deployment = await deploy(options, progress);
  try {
    if (binding === 'cassandra') await warmUp(deployment, options, progress);
    const contest = await runContest(deployment, options, progress);
    const history = openHistory(options.history);
    contest.history.forEach(history.write);
    await history.close();
    const { sizes } = deployment;
    return { binding, ...sizes, workload, ...compare(contest) };
  } finally {
    await deployment.close();
  }
}

/**
 * Warms up a cluster. In its first minute, a new cluster compiles its code, which must not affect
 * the comparison.
 */
export async function warmUp(
  { application }: Deployment,
  options: Pick<Options, 'workload' | 'seed' | 'seconds'>,
  progress: Progress,
): Promise<void> {
  const { workload, seed } = options;
  const [workers, seconds] = [WARM_UP_WORKERS, Math.min(WARM_UP_SECONDS_MAX, 2 * options.seconds)];
  progress(`warming up: ${seconds} s, ${workers} requests at a time`);
  await runAbComparison({
    application,
    workload,
    seconds,
    workers,
    seed: seed + 1,
    warmUpPairs: 0,
  });
}

function runContest(
  { application }: Deployment,
  options: Options,
  progress: Progress,
): Promise<AbComparison> {
  const { workload, seconds, workers, seed } = options;
  progress(
    `workload ${workload}, ${seconds} s, ${workers} requests at a time, with and without speculation by turns`,
  );
  return runAbComparison({ application, workload, seconds, workers, seed, progress });
}
