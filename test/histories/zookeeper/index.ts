/**
 * The ZooKeeper binding on a real ensemble with the paper's distances: rounds of work, faults, and
 * judgement. A round with a fault is the last one.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runFolder } from '../../../engines/folders.ts';
import { whenInterrupted } from '../../../engines/when-interrupted.ts';
import { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import type { Histories, HistoriesOptions, HistoriesReport } from '../histories.ts';
import { countBy } from '../reported-outcomes.ts';
import { deadServers } from './nemesis.ts';
import { runRound } from './round.ts';
import { createPlan, Scene, type Plan } from './fixture.ts';
import { Counter } from '../counter.ts';

export const zookeeperHistories: Histories = { name: 'zookeeper', run };

const ROUND_MS = 20_000;
/** Less is not worth a round. */
const ROUND_MIN_MS = 8_000;

async function run(options: HistoriesOptions): Promise<HistoriesReport> {
  const rounds = new Rounds(options);
  await rounds.play();
  const { calls } = options.history;
  return {
    operations: countBy(calls, ({ kind }) => kind),
    outcomes: countBy(calls, ({ outcome = 'none' }) => outcome),
    injected: rounds.injected.counts,
    faults: rounds.faults,
    serversAlive: rounds.areServersAlive,
  };
}

class Rounds {
  readonly injected = new Counter();
  readonly faults: string[] = [];
  areServersAlive = true;
  readonly #options: HistoriesOptions;
  #next: Plan;

  constructor(options: HistoriesOptions) {
    this.#options = options;
    this.#next = createPlan(options.seed);
  }

  /** One round at least. Those that follow one another on servers of the same kind share them. */
  async play(): Promise<void> {
    do await this.#onOneEnsemble();
    while (!this.#isOver);
  }

  get #isOver(): boolean {
    return this.faults.length > 0 || this.#options.untilMs - performance.now() < ROUND_MIN_MS;
  }

  async #onOneEnsemble(): Promise<void> {
    const { hasObserver } = this.#next;
    const folder = join(runFolder('zookeeper'), `histories-${process.pid}`);
    const observer = hasObserver ? ({ observer: 'frankfurt' } as const) : {};
    const { progress } = this.#options;
    const ensemble = await Ensemble.start({
      nodes: 3,
      leader: 'ireland',
      wan: 'paper',
      folder,
      progress,
      ...observer,
    });
    const forget = whenInterrupted(() => ensemble.stop());
    try {
      do await this.#round(ensemble);
      while (!this.#isOver && this.#next.hasObserver === hasObserver);
    } finally {
      forget();
      await ensemble.stop();
    }
  }

  async #round(ensemble: Ensemble): Promise<void> {
    const plan = this.#next;
    this.#next = createPlan(plan.seed + 1);
    const { untilMs, history, progress } = this.#options;
    progress(`round ${plan.seed}: ${inWords(plan)}`);
    const lastsMs = Math.max(ROUND_MIN_MS, Math.min(untilMs - performance.now(), ROUND_MS));
    const scene = new Scene({ ensemble, plan, history, injected: this.injected, progress });
    this.faults.push(...(await runRound(scene, lastsMs, () => history.calls)));
    const dead = deadServers(ensemble);
    if (dead.length > 0) this.areServersAlive = false;
    this.faults.push(
      ...dead.map((site) => `${plan.seed}/: the server of ${site} has ended`),
      ...severe(ensemble, plan),
    );
  }
}

function inWords({ delivery, hasObserver }: Plan): string {
  const servers = hasObserver ? 'Frankfurt without a vote' : 'three votes';
  return `${servers}, ${delivery === undefined ? 'sessions expire' : `consumers die, janitor ${delivery}`}`;
}

/**
 * The message of a follower that loses its leader while it forwards a request: it finds another
 * one.
 */
const LOST_LEADER = /^java\.(net|io)\./;

/** What servers say before they give themselves up. */
function severe(ensemble: Ensemble, { seed }: Plan): string[] {
  return ensemble.sites.flatMap((site) => {
    const lines = readFileSync(join(ensemble.state.folder, `${site}.log`), 'utf8').split('\n');
    const at = lines.findIndex(
      (line, n) =>
        line.includes('Severe unrecoverable error') && !LOST_LEADER.test(lines[n + 1] ?? ''),
    );
    return at < 0 ? [] : [`${seed}/: the server of ${site}: ${lines[at]} ${lines[at + 1]}`];
  });
}
