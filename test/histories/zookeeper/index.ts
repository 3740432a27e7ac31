/**
 * The ZooKeeper binding on a real ensemble with the paper's distances: rounds of work, faults, and judgement. A round with a
 * fault is the last one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../../../engines/folders.ts';
import { whenInterrupted } from '../../../engines/when-interrupted.ts';
import { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import type { Histories, HistoriesOptions, HistoriesReport } from '../histories.ts';
import { countBy } from '../outcomes.ts';
import { deadServers } from './disturbances.ts';
import { playRound } from './round.ts';
import { planOf, Scene, type Plan } from './scene.ts';
import { Tally } from './tally.ts';

export const zookeeperHistories: Histories = { name: 'zookeeper', run };

const ROUND_MS = 20_000;
/** Less is not worth a round. */
const ROUND_MIN_MS = 5_000;

async function run({ untilMs, seed, history, progress }: HistoriesOptions): Promise<HistoriesReport> {
  const injected = new Tally();
  const faults: string[] = [];
  let serversAlive = true;
  const isOver = (): boolean => faults.length > 0 || untilMs - performance.now() < ROUND_MIN_MS;
  const playOn = async (ensemble: Ensemble, plan: Plan): Promise<void> => {
    const endMs = Math.max(performance.now() + ROUND_MIN_MS, Math.min(untilMs, performance.now() + ROUND_MS));
    progress(`round ${plan.seed}: ${inWords(plan)}`);
    const scene = new Scene({ ensemble, plan, history, injected, progress });
    faults.push(...(await playRound(scene, endMs, () => history.calls)));
    const dead = deadServers(ensemble);
    serversAlive &&= dead.length === 0;
    faults.push(...dead.map((site) => `${plan.seed}/: the server of ${site} has ended`), ...severe(ensemble, plan));
  };
  for (let next = seed, isFirst = true; isFirst || !isOver(); ) {
    const { hasObserver } = planOf(next);
    await withEnsemble(hasObserver, progress, async (ensemble) => {
      for (let plan = planOf(next); isFirst || (!isOver() && plan.hasObserver === hasObserver); plan = planOf(next)) {
        isFirst = false;
        next += 1;
        await playOn(ensemble, plan);
      }
    });
  }
  const { calls } = history;
  return {
    operations: countBy(calls, ({ kind }) => kind),
    outcomes: countBy(calls, ({ outcome = 'none' }) => outcome),
    injected: injected.counts,
    faults,
    serversAlive,
  };
}

function inWords({ delivery, hasObserver }: Plan): string {
  const servers = hasObserver ? 'Frankfurt without a vote' : 'three votes';
  return `${servers}, ${delivery === undefined ? 'sessions expire' : `consumers die, janitor ${delivery}`}`;
}

async function withEnsemble(
  hasObserver: boolean,
  progress: (line: string) => void,
  use: (ensemble: Ensemble) => Promise<void>,
): Promise<void> {
  const folder = join(runFolder('zookeeper'), `histories-${process.pid}`);
  const observer = hasObserver ? ({ observer: 'frk' } as const) : {};
  const ensemble = await Ensemble.start({ nodes: 3, leader: 'irl', wan: 'paper', folder, progress, ...observer });
  const forget = whenInterrupted(() => ensemble.stop());
  try {
    await use(ensemble);
  } finally {
    forget();
    await ensemble.stop();
  }
}

/** What servers say before they give themselves up. */
function severe(ensemble: Ensemble, { seed }: Plan): string[] {
  return ensemble.sites.flatMap((site) => {
    const log = readFileSync(join(ensemble.state.folder, `${site}.log`), 'utf8');
    const line = log.split('\n').find((each) => each.includes('Severe unrecoverable error'));
    return line === undefined ? [] : [`${seed}/: the server of ${site}: ${line}`];
  });
}
