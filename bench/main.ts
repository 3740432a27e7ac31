/** `npm run bench -- NAME`: one benchmark with its baselines in the same run. */
import { runCommand } from './command.ts';
import type { Bench } from './harness/bench.ts';
import { ads, twissandra } from './ads/bench.ts';
import { cassandraBandwidth } from './cassandra/bandwidth.ts';
import { cassandraDivergence } from './cassandra/divergence.ts';
import { cassandraLatency } from './cassandra/latency.ts';
import { cassandraLoad } from './cassandra/load.ts';
import { causalRedisCost } from './causal-redis/bench.ts';
import { crowd } from './crowd/bench.ts';
import { labels } from '../research/case-studies/bench/color-analysis.ts';
import { quoddy } from '../research/case-studies/bench/quoddy.ts';
import { rubis } from '../research/case-studies/bench/rubis.ts';
import { tpcw } from '../research/case-studies/bench/tpcw.ts';
import { failover } from './cluster/failover.ts';
import { failoverEtcd } from './cluster/failover-etcd.ts';
import { cluster } from './cluster/throughput.ts';
import { causal } from './causal/bench.ts';
import { core } from './core/bench.ts';
import { redblueLatency } from './microbenchmark/latency.ts';
import { redblueThroughput } from './microbenchmark/throughput.ts';
import { redNearUsers } from './partitions/bench.ts';
import { pace } from './pace/bench.ts';
import { postgresLatency } from './postgres/latency.ts';
import { postgresSessions } from './postgres/sessions.ts';
import { react } from './react/bench.ts';
import { redblueOverhead } from './redblue-overhead/bench.ts';
import { rights } from './rights/bench.ts';
import { rows } from './rows/bench.ts';
import { sdurDelay } from './sdur/delay.ts';
import { partitionMetadata } from './sdur/metadata.ts';
import { sdurMix } from './sdur/mix.ts';
import { sdurReorder } from './sdur/reorder.ts';
import { sdurSocial } from './sdur/social.ts';
import { server } from './server/bench.ts';
import { tickets } from './tickets/bench.ts';
import { transactions } from './transactions/bench.ts';
import { wire } from './wire/bench.ts';
import { zookeeperBandwidth } from './zookeeper/bandwidth.ts';
import { zookeeperLatency } from './zookeeper/latency.ts';

const benches: readonly Bench[] = [
  core,
  tickets,
  rights,
  rows,
  ads,
  twissandra,
  wire,
  redblueOverhead,
  pace,
  transactions,
  causal,
  server,
  crowd,
  react,
  cluster,
  failover,
  failoverEtcd,
  redblueLatency,
  redblueThroughput,
  redNearUsers,
  sdurMix,
  sdurReorder,
  sdurDelay,
  sdurSocial,
  partitionMetadata,
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
  causalRedisCost,
  postgresLatency,
  postgresSessions,
];

await runCommand(benches);
