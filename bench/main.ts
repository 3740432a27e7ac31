/** `npm run bench -- NAME`: one benchmark with its baselines in the same run. */
import { cac } from 'cac';
import { UsageError } from '../engines/usage-error.ts';
import { EngineUnavailable } from '../engines/engine.ts';
import { isInterrupted } from '../engines/when-interrupted.ts';
import type { Bench } from './harness/bench.ts';
import { runBench } from './harness/run-bench.ts';
import { ads, twissandra } from './ads/bench.ts';
import { cassandraBandwidth } from './cassandra/bandwidth.ts';
import { cassandraDivergence } from './cassandra/divergence.ts';
import { cassandraLatency } from './cassandra/latency.ts';
import { cassandraLoad } from './cassandra/load.ts';
import { labels } from './case-studies/labels.ts';
import { quoddy } from './case-studies/quoddy.ts';
import { rubis } from './case-studies/rubis.ts';
import { tpcw } from './case-studies/tpcw.ts';
import { core } from './core/bench.ts';
import { redblueLatency } from './microbenchmark/latency.ts';
import { redblueThroughput } from './microbenchmark/throughput.ts';
import { redblueOverhead } from './redblue-overhead/bench.ts';
import { rights } from './rights/bench.ts';
import { server } from './server/bench.ts';
import { tickets } from './tickets/bench.ts';
import { wire } from './wire/bench.ts';
import { zookeeperBandwidth } from './zookeeper/bandwidth.ts';
import { zookeeperLatency } from './zookeeper/latency.ts';

const benches: readonly Bench[] = [
  core,
  tickets,
  rights,
  ads,
  twissandra,
  wire,
  redblueOverhead,
  server,
  redblueLatency,
  redblueThroughput,
  labels,
  tpcw,
  rubis,
  quoddy,
  zookeeperLatency,
  zookeeperBandwidth,
  cassandraLatency,
  cassandraLoad,
  cassandraDivergence,
  cassandraBandwidth,
];

const cli = cac('npm run bench --');
cli
  .command('[name]', benches.map(({ name, about }) => `${name}: ${about}`).join('; '))
  .option('--json', 'Print one JSON object on stdout')
  .option('--quick', 'Fewer and shorter rounds; writes no files')
  .option('--binding <name>', 'The store to measure, where a benchmark has several')
  .option('--way <n>', 'Cassandra: 1 two reads, 2 a gateway, 3 a coordinator with preliminary views (3 unless given)')
  .option('--history <file>', 'Write the history that the claims are computed from');
cli.help();
const { args, options } = cli.parse(process.argv, { run: false });
if (options['help'] !== true) process.exitCode = await main(args[0]).catch(toExitCode);

/** What the user can mend is told without a stack; the rest with it, but without all that may hang on an error. */
function toExitCode(error: unknown): number {
  // Ends by itself, once no engine is left.
  if (isInterrupted()) return 1;
  const isUsage = error instanceof UsageError;
  if (isUsage || error instanceof EngineUnavailable) {
    console.error(error.message);
    return isUsage ? 2 : 1;
  }
  console.error(error instanceof Error ? error.stack : error);
  // Nobody knows what is still open.
  process.exit(1);
}

async function main(name: string | undefined): Promise<number> {
  const bench = benches.find((each) => each.name === name);
  if (bench === undefined) {
    const names = benches.map((each) => each.name).join(', ');
    console.error(name === undefined ? `name a benchmark: ${names}` : `no benchmark "${name}": there are ${names}`);
    return 2;
  }
  return runBench(bench, {
    quick: options['quick'] === true,
    json: options['json'] === true,
    binding: options['binding'] as string | undefined,
    way: options['way'] as number | undefined,
    history: options['history'] as string | undefined,
  });
}
