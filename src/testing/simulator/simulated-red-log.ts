/**
 * The red log of a run: that of the built-in engine, which may be faulty, or one that a model of
 * etcd keeps.
 */
import { Random } from '../../server/service/collections/random.ts';
import { createEtcdEngine } from '../../server/log/etcd/engine.ts';
import { EtcdKeys } from '../../server/log/etcd/etcd-keys.ts';
import type { EntryName } from '../../server/service/records/records.ts';
import type { RedLogEngine } from '../../server/log/red-log-engine.ts';
import { SEQUENCED_ENGINE } from '../../server/log/sequenced/engine.ts';
import { describeRecordProblem } from '../../server/site/wire/message-schemas.ts';
import { createFaultyEngine, type LogFaults } from './disk/faulty-log.ts';
import type { EtcdStore } from './etcd/etcd-store.ts';
import type { SimulationOptions } from './options.ts';
import type { RunParts } from './run-parts.ts';
import { SimulatedEtcd } from './etcd/simulated-etcd.ts';
import type { SimulatedSite } from './simulated-site.ts';
import type { Timeline } from './timeline.ts';

export interface RedLogContext extends LogFaults {
  readonly seed: number;
  readonly options: SimulationOptions;
  readonly timeline: Timeline;
  readonly sites: readonly SimulatedSite[];
  readonly parts: RunParts;
}

const PLACE = { deployment: 'simulated', generation: 0 };
const [PROBE_MS, RECOVERY_MS] = [20, 5000];
/** The time in which operators notice an older state. */
const PUT_BACK_MS = 800;
/** How long sites that use one endpoint read nothing before the disks are put back. */
const FROZEN_MS = 2000;

export class SimulatedRedLog {
  readonly engine: RedLogEngine;
  readonly etcd: SimulatedEtcd | undefined;
  readonly #context: RedLogContext;
  readonly #keys = new EtcdKeys(PLACE);

  constructor(context: RedLogContext) {
    const { options, seed, timeline, parts } = context;
    this.#context = context;
    if (!options.isEtcd) {
      const createNode: RedLogEngine['createNode'] = (log) => new parts.SequencedLog(log);
      this.engine = createFaultyEngine({ ...SEQUENCED_ENGINE, createNode }, context);
      return;
    }
    this.engine = createEtcdEngine(
      {
        ...PLACE,
        describeProblem: describeRecordProblem,
        markEvery: options.etcdMarkEvery,
        pageGroups: options.etcdPageGroups,
      },
      parts,
    );
    this.etcd = new SimulatedEtcd(options, new Random(seed ^ 0xe7d), timeline);
    // Whether most sites would notice is looked up in the log of `main` alone.
    if (options.etcdPutBackAtMs !== Infinity && options.maxLogs === 1)
      timeline.schedule(options.etcdPutBackAtMs, () => this.#planPutBack());
  }

  get connect(): SimulatedEtcd['connect'] | undefined {
    const { etcd } = this;
    return etcd && ((reply) => etcd.connect(reply));
  }

  heal(): void {
    this.etcd?.heal();
  }

  /** The time in which sites read again after everything has healed. */
  get recoveryMs(): number {
    return this.etcd === undefined ? 0 : RECOVERY_MS;
  }

  /** Whether it may be late, or refuse, by its own faults. */
  get isInTheWay(): boolean {
    return this.etcd !== undefined && !this.#context.isHealthy();
  }

  /**
   * Copies the disks, and puts the copy back once most sites are ahead. With fewer sites, those
   * could be away while others continue.
   */
  #planPutBack(): void {
    const { etcd } = this;
    const { timeline, sites, isHealthy } = this.#context;
    if (etcd === undefined) return;
    const old = etcd.store.copy();
    etcd.frozenUntilMs[0] = timeline.nowMs + FROZEN_MS;
    const look = (): void => {
      if (isHealthy()) return;
      const logs = sites.flatMap(({ machine, isAwake }) =>
        machine === undefined || !isAwake ? [] : [machine.log],
      );
      const saved = logs.map((log) => log.save());
      const most = Math.max(...saved.map(({ delivered }) => delivered));
      const ahead = saved.filter(({ delivered }) => delivered === most);
      const isSettled =
        logs.length === sites.length &&
        2 * ahead.length > sites.length &&
        logs.every((log) => !log.isBusy);
      if (!isSettled || this.#has(old, ahead[0]?.last)) return timeline.schedule(PROBE_MS, look);
      const { store } = etcd;
      etcd.replaceStore(old);
      if (ahead.length < sites.length) etcd.counts['etcd put back unseen by a site'] += 1;
      timeline.schedule(PUT_BACK_MS, () => etcd.replaceStore(store));
    };
    look();
  }

  #has(store: EtcdStore, last: EntryName | undefined): boolean {
    if (last === undefined) return true;
    const { origin, epoch, sequence } = last;
    const key = this.#keys.formatGroup(origin, epoch, sequence);
    return (
      (store.range({ key, end: this.#keys.getStartEnd(origin, epoch) }, 1, 0)?.entries.length ??
        0) > 0
    );
  }
}
