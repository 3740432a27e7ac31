/** Speculation in the ad server and in the timelines. */
import { deployAds } from '../../demo/ad-server/deploy.ts';
import { deployTimelines } from '../../demo/twissandra/deploy.ts';
import type { Bench } from '../harness/bench.ts';
import { createSpeculationBench } from './speculation-bench.ts';

export const ads: Bench = createSpeculationBench({
  name: 'ads',
  about: 'ads fetched with and without speculation: latency, throughput',
  placement: 'paper',
  deploy: deployAds,
});

export const twissandra: Bench = createSpeculationBench({
  name: 'twissandra',
  about:
    'timelines in Virginia, California and Oregon, read with and without speculation: latency, throughput',
  placement: 'twissandra',
  deploy: deployTimelines,
});
