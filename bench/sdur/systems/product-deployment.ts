/**
 * A deployment of the product in virtual time, on links with constant delays. Messages are encoded
 * and decoded as on a real link, and entries of logs are encoded as on a disk. So their bytes are
 * counted rather than assumed.
 */
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { getPartitionOf } from '../../../src/server/log/local-log.ts';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../src/server/log/sequenced/sequenced-messages.ts';
import { EnvelopeCodec } from '../../../src/server/site/wire/envelope-codec.ts';
import type { Envelope } from '../../../src/server/site/wire/envelope.ts';
import { createEpoch } from '../../../src/server/log/epoch.ts';
import { formatOperationId } from '../../../src/server/site/core/operation-id.ts';
import { Origins, type Origin } from '../../../src/server/service/records/origin.ts';
import type { RedRecord } from '../../../src/server/service/records/records.ts';
import type { Submission } from '../../../src/server/site/core/submissions.ts';
import {
  getOperationPlans,
  type OperationPlan,
} from '../../../src/server/service/operation-plan.ts';
import { createPartitions, MAIN, type Partitions } from '../../../src/server/service/partitions.ts';
import type { RedLogPlace } from '../../../src/server/site/site-options.ts';
import { HEADER_BYTES } from '../../../src/server/node/storage/format/frames.ts';
import {
  packEntries,
  type LoggedEntry,
} from '../../../src/server/node/storage/format/packed-entries.ts';
import type { Place } from './layouts.ts';
import { rowService } from './product-service.ts';
import { ProductSite } from './product-site.ts';
import type { Access, Request, System } from './system.ts';

export interface ProductOptions {
  readonly timeline: Timeline;
  /**
   * By partition: its voters. The first one leads its log, and gets the operations of its clients.
   */
  readonly layout: readonly (readonly Place[])[];
  /**
   * Whether the first partition is `main`, whose voters are all sites. Otherwise no row is in
   * `main`, and each partition has a log beside it.
   */
  readonly isFirstMain?: boolean | undefined;
  readonly getDelayMs: (from: Place, to: Place) => number;
  /** How long a site works for each record that it takes from a red log. */
  readonly serviceMs: number;
}

/** What happened so far. */
export interface ProductCounts {
  /**
   * How often a generator has run, and has become a red operation: the first time for an operation,
   * and in all.
   */
  firstRuns: number;
  runs: number;
  wireBytes: number;
  diskBytes: number;
  /** By committed global: how long its rows were held in the other partition. */
  heldMs: number[];
}

/** A client has one operation in flight. */
interface Client {
  readonly name: string;
  sequence: number;
}

const CODEC = new EnvelopeCodec(SEQUENCED_MESSAGE_FORMAT);
const DEPLOYMENT = 'rows';
const STRONG = { tentative: false, causal: false, strong: true };
const CAUSAL = { tentative: false, causal: true, strong: false };
/** The defaults of a deployment in one process. */
const LIMITS = {
  maxAttempts: 10,
  maxRedInFlight: 50_000,
  resendAfterMs: 1000,
  reachTimeoutMs: 5000,
  sessionTimeoutMs: 5000,
  maxClockSkewMs: 10_000,
};
/** As long as the names of clients that connect to a gateway. */
const CLIENT_NAME_LENGTH = 22;

export class ProductDeployment implements System {
  readonly counts: ProductCounts = {
    firstRuns: 0,
    runs: 0,
    wireBytes: 0,
    diskBytes: 0,
    heldMs: [],
  };
  readonly #options: ProductOptions;
  readonly #places: readonly Place[];
  /** By partition. */
  readonly #names: readonly string[];
  readonly #partitions: Partitions;
  readonly #sites: readonly ProductSite[];
  readonly #plans = getOperationPlans(rowService);
  /** By partition: the clients without an operation in flight. */
  readonly #idle: readonly Client[][];
  #clientCount = 0;
  /** By log and operation: since when a hold of it stands. */
  readonly #heldSince = new Map<string, number>();

  constructor(options: ProductOptions) {
    this.#options = options;
    const { layout, isFirstMain = false } = options;
    this.#names = layout.map((_, index) => (isFirstMain && index === 0 ? MAIN : `p${index}`));
    const others = this.#names.filter((name) => name !== MAIN);
    this.#partitions = createPartitions(
      rowService,
      Object.fromEntries(others.map((name) => [name, {}])),
    );
    this.#idle = layout.map(() => []);
    this.#places = [...new Set(layout.flat())];
    this.#sites = this.#places.map((place) => this.#createSite(place));
    for (const site of this.#sites) site.start();
  }

  get busyMs(): readonly number[] {
    return this.#sites.map(({ busyMs }) => busyMs);
  }

  begin({ home, rows }: Request, onEnd: (commits: boolean) => void): void {
    const place = this.#options.layout[home]?.[0] as Place;
    const client = this.#idle[home]?.pop() ?? this.#createClient();
    client.sequence += 1;
    const { name, sequence } = client;
    const submission = {
      ...this.#plan(rows, sequence),
      identity: {
        id: formatOperationId(name, sequence),
        home: this.#findOrigin(place),
        hop: 0,
        acknowledged: sequence - 1,
      },
    };
    // The client is in the region of its site.
    this.#afterTrip(place, place, () =>
      this.#findSite(place).submit(submission, ({ kind }) =>
        this.#afterTrip(place, place, () => {
          this.#idle[home]?.push(client);
          onEnd(kind === 'view');
        }),
      ),
    );
  }

  /** Returns the operation for one row, for two, or for rows that are only read. */
  #plan(
    rows: readonly Access[],
    value: number,
  ): Pick<Submission, 'plan' | 'args' | 'wantedStages'> {
    const keys = rows.map(({ partition, row }) => `${this.#names[partition]}/${row}`);
    const [first, second] = keys;
    const of = (name: string): OperationPlan => this.#plans.get(name) as OperationPlan;
    if (!rows.some(({ isWritten }) => isWritten))
      return { plan: of('read'), args: { rows: keys }, wantedStages: CAUSAL };
    return second === undefined
      ? { plan: of('updateOne'), args: { row: first, value }, wantedStages: STRONG }
      : { plan: of('update'), args: { first, second, value }, wantedStages: STRONG };
  }

  #createSite(place: Place): ProductSite {
    const { timeline, serviceMs, layout } = this.#options;
    const origins = this.#createOrigins();
    const places = this.#names.map((name, index) => ({
      name,
      voters: layout[index] as readonly Place[],
    }));
    const redLogs = this.#partitions.names.slice(1).map((name): RedLogPlace => {
      const { voters = [] } = places.find((item) => item.name === name) ?? {};
      return { leader: this.#findOrigin(voters[0] as Place), voters };
    });
    const site = this.#findOrigin(place);
    return new ProductSite({
      timeline,
      serviceMs,
      site: {
        ...LIMITS,
        service: rowService,
        deployment: DEPLOYMENT,
        site,
        origins,
        partitions: this.#partitions,
        redLeader: this.#findOrigin(layout[0]?.[0] as Place),
        redLogs,
        epoch: createEpoch(1, site / (1 + this.#places.length)),
        observer: {
          onCreated: (operation) => {
            if (!('attempt' in operation)) return;
            this.counts.runs += 1;
            if (operation.attempt === 1) this.counts.firstRuns += 1;
          },
        },
      },
      onSend: (envelope) => this.#transfer(envelope, origins),
      onStored: (entries) => this.#onStored(place, entries),
    });
  }

  #createOrigins(): Origins {
    return Origins.create(this.#places, this.#partitions.names.slice(1));
  }

  /** The sites have the first ordinals after `main`, in their order. */
  #findOrigin(place: Place): Origin {
    return (1 + this.#places.indexOf(place)) as Origin;
  }

  #findSite(place: Place): ProductSite {
    return this.#sites[this.#places.indexOf(place)] as ProductSite;
  }

  #createClient(): Client {
    this.#clientCount += 1;
    return { name: String(this.#clientCount).padStart(CLIENT_NAME_LENGTH, 'c'), sequence: 0 };
  }

  #transfer(envelope: Envelope, origins: Origins): void {
    const [from, to] = [envelope.from, envelope.to].map(
      ({ site }) => this.#places[site - 1] as Place,
    ) as [Place, Place];
    for (const bytes of CODEC.encode(envelope)) {
      this.counts.wireBytes += bytes.length;
      this.#afterTrip(from, to, () =>
        this.#findSite(to).receive(CODEC.decode(bytes, origins, DEPLOYMENT)),
      );
    }
  }

  #afterTrip(from: Place, to: Place, arrive: () => void): void {
    const { timeline, getDelayMs } = this.#options;
    timeline.schedule(getDelayMs(from, to), arrive);
  }

  #onStored(place: Place, entries: readonly LoggedEntry[]): void {
    this.counts.diskBytes += packEntries(entries, HEADER_BYTES, Infinity).bytes.length;
    for (const { log, entry } of entries) {
      const partition = getPartitionOf(log);
      const name = this.#partitions.names[partition ?? 0];
      const [leader] = this.#options.layout[this.#names.indexOf(name ?? MAIN)] ?? [];
      if (partition !== undefined && leader === place)
        this.#noteHold(`${partition}`, (entry as { readonly record: RedRecord }).record);
    }
  }

  /**
   * Takes the times at the leader of the log. Each site has the hold and the release as much later.
   */
  #noteHold(log: string, record: RedRecord): void {
    if (record.kind !== 'hold' && record.kind !== 'release') return;
    const { nowMs } = this.#options.timeline;
    const name = `${log} ${record.id}`;
    if (record.kind === 'hold') return void this.#heldSince.set(name, nowMs);
    const since = this.#heldSince.get(name);
    if (since !== undefined && record.stamp !== undefined) this.counts.heldMs.push(nowMs - since);
    this.#heldSince.delete(name);
  }
}
