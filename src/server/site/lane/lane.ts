/**
 * Everything of one partition's red log at one site: the log, what the site takes of it, and the
 * red requests of the site that it orders. Almost all deployments have one lane. Several lanes
 * share nothing but the state of the site; `GlobalRequests` and `PartitionReads` see them all.
 */
import type { RedLog } from '../../log/red-log.ts';
import type { RedRecord } from '../../service/records/records.ts';
import type { SiteCore } from '../core/site-core.ts';
import type { RedOrder } from './order/red-order.ts';
import { Contention } from './requests/contention.ts';
import type { Pipeline } from './requests/pipeline.ts';
import { DependencyResolver } from './requests/read-dependencies.ts';
import { RedAdmission, shareLimits } from './requests/red-admission.ts';
import type { RedIntake } from './red-intake.ts';
import type { RedReach } from './red-reach.ts';
import type { RedRequests } from './requests/red-requests.ts';
import { StrongReads } from './requests/strong-reads.ts';
import { ThrottledRequests } from './requests/throttled-requests.ts';

/** This site's node of the log, once the site has opened it. */
export interface OpenLog {
  readonly node: RedLog<RedRecord>;
  readonly intake: RedIntake;
  readonly reach: RedReach;
}

export interface LaneParts {
  readonly order: RedOrder;
  /** Own operations that others depend on. */
  readonly pipeline: Pipeline;
  readonly requests: RedRequests;
  /** The part of each limit of the site that one lane gets. */
  readonly share: number;
}

export class Lane {
  /** The ordinal of the partition. */
  readonly partition: number;
  readonly order: RedOrder;
  readonly pipeline: Pipeline;
  readonly reads: StrongReads;
  readonly throttled: ThrottledRequests;
  readonly admission: RedAdmission;
  readonly contention: Contention;
  readonly resolver: DependencyResolver;
  // These are set by `open`, and are fields, since each input reads them.
  node!: RedLog<RedRecord>;
  intake!: RedIntake;
  reach!: RedReach;

  constructor(core: SiteCore, { order, pipeline, requests, share }: LaneParts) {
    const { options } = core;
    this.partition = order.partition;
    this.order = order;
    this.pipeline = pipeline;
    this.reads = new StrongReads(this.partition);
    this.throttled = new ThrottledRequests(options.service, options.origins, share);
    this.admission = new RedAdmission(
      shareLimits(options, share),
      requests.countsOf(this.partition),
      this.reads,
      this.throttled,
    );
    this.contention = new Contention(core);
    this.resolver = new DependencyResolver(core, pipeline, this.contention);
  }

  /** The site opens its logs once, after it has restored its state. */
  open({ node, intake, reach }: OpenLog): void {
    this.node = node;
    this.intake = intake;
    this.reach = reach;
  }
}

/** The lanes of a site. The first one is that of `main`, and the only one without partitions. */
export class Lanes implements Iterable<Lane> {
  readonly main: Lane;
  /** By the ordinal of the partition. */
  readonly all: readonly Lane[];

  constructor(main: Lane, others: readonly Lane[]) {
    this.main = main;
    this.all = [main, ...others];
  }

  get count(): number {
    return this.all.length;
  }

  /** Returns the lane of a partition, whose ordinal was checked before. */
  at(partition: number): Lane {
    const lane = this.all[partition];
    if (lane === undefined)
      throw new RangeError(`there is no red log with the ordinal ${partition}`);
    return lane;
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.all.values();
  }
}
