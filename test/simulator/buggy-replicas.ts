/** Replicas, logs and disks that each break one rule: what planted faults are made of. */
import type { RedLog, RedLogOptions, SavedLog } from '../../src/server/log/red-log.ts';
import { RedLogConsumer } from '../../src/server/log/red-log-consumer.ts';
import { SEQUENCED_ENGINE } from '../../src/server/log/sequenced/engine.ts';
import { SequencedLog } from '../../src/server/log/sequenced/sequenced-log.ts';
import type { Section } from '../../src/server/records/checkpoint.ts';
import type { SavedStream } from '../../src/server/replica/causal/blue-streams.ts';
import { BluePath } from '../../src/server/replica/causal/blue-path.ts';
import { Certifier } from '../../src/server/replica/red/order/certifier.ts';
import type { Conflict } from '../../src/server/records/certification-result.ts';
import { Pipeline } from '../../src/server/replica/red/requests/pipeline.ts';
import { CoverageWaiters } from '../../src/server/replica/core/coverage-waiters.ts';
import type { Stamp } from '../../src/server/records/effect.ts';
import type { Origin } from '../../src/server/records/origin.ts';
import type { GeneratorOutcome } from '../../src/server/generator/generator-runner.ts';
import { EXPIRED } from '../../src/server/replica/exactly-once/id-table.ts';
import { toRemovalName, findWrittenNames } from '../../src/server/generator/read-set.ts';
import type {
  ReplyRecord,
  BlueOperation,
  OperationId,
  RedRecord,
  SlotDecision,
  RedOperation,
} from '../../src/server/records/records.ts';
import { conflictError } from '../../src/server/replica/red/requests/retry-policy.ts';
import { RedOrder } from '../../src/server/replica/red/order/red-order.ts';
import { RedPath } from '../../src/server/replica/red/red-path.ts';
import type { RedRequest } from '../../src/server/replica/red/requests/red-requests.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import type { RecoveredReplica } from '../../src/server/replica/replica-recovery.ts';
import type { Submission } from '../../src/server/replica/core/submissions.ts';
import type { Stage } from '../../src/server/records/replica-output.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';
import type { SiteOptions } from '../../src/server/site/site-options.ts';
import type { LogPositions } from '../../src/server/log/log-positions.ts';
import { SiteState } from '../../src/server/replica/core/site-state.ts';
import type { ReplyOrError } from '../../src/server/records/reply.ts';
import { DedupSlots } from '../../src/server/replica/exactly-once/dedup-slots.ts';
import type { DedupSlot } from '../../src/server/replica/exactly-once/dedup-slots.ts';
import { Writes } from '../../src/server/replica/writes.ts';
import { OperationLookups } from '../../src/server/replica/exactly-once/operation-lookup.ts';
import type {
  OperationLookup,
  OperationLookupHost,
} from '../../src/server/replica/exactly-once/operation-lookup.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';

const MICROS_PER_MS = 1000;

type ReplicaClass = new (...args: ConstructorParameters<typeof Replica>) => Replica;
type LogClass = new (options: RedLogOptions<RedRecord>) => RedLog<RedRecord>;

export const withReplica =
  (Broken: ReplicaClass): MachineFactory =>
  (options, stored, nowMs, wallMs) => {
    class Machine extends SiteMachine {
      protected override createReplica(
        site: SiteOptions,
        found: RecoveredReplica,
        nowMs: number,
        wallMs: number,
      ): Replica {
        return new Broken(site, found, nowMs, wallMs);
      }
    }
    return new Machine(options, stored, nowMs, wallMs);
  };

const withLog =
  (Broken: LogClass): MachineFactory =>
  (options, stored, nowMs, wallMs) => {
    const redLog = {
      ...SEQUENCED_ENGINE,
      createNode: (log: RedLogOptions<RedRecord>) => new Broken(log),
    };
    return new SiteMachine({ ...options, redLog }, stored, nowMs, wallMs);
  };

const withRedPath = (make: (replica: Replica) => RedPath): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createRedPath(): RedPath {
        return make(this);
      }
    },
  );

function withCertifier(
  replica: Replica,
  make: (...args: ConstructorParameters<typeof Certifier>) => Certifier,
): RedPath {
  return new RedPath(replica, {
    createOrder: (partition) => new RedOrder(replica.options, replica.state, partition, make),
  });
}

const withRedOrder = (
  make: (...args: ConstructorParameters<typeof RedOrder>) => RedOrder,
): MachineFactory =>
  withRedPath(
    (replica) =>
      new RedPath(replica, {
        createOrder: (partition) => make(replica.options, replica.state, partition),
      }),
  );

const withBluePath = (
  make: (...args: ConstructorParameters<typeof BluePath>) => BluePath,
): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createBluePath(): BluePath {
        return make(this, this.onBlueApplied);
      }
    },
  );

const withUpdates = (
  Broken: new (...args: ConstructorParameters<typeof Writes>) => Writes,
): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createWrites(): Writes {
        return new Broken(this, this.blue, this.red, this.name);
      }
    },
  );

const withWalks = (make: (host: OperationLookupHost) => OperationLookups): MachineFactory =>
  withUpdates(
    class extends Writes {
      protected override createLookups(): OperationLookups {
        return make(this);
      }
    },
  );

class BlindBluePath extends BluePath {
  protected override isVisible(): boolean {
    return true;
  }
}

class SelfishBluePath extends BluePath {
  protected override onHave(): void {}
}

class GatelessRedOrder extends RedOrder {
  protected override mayPass(): boolean {
    return true;
  }
}

class LocalReadRedPath extends RedPath {
  override read(id: string, submission: Submission): void {
    this.replyToRead(id, submission);
  }
}

class HastyConflictRedPath extends RedPath {
  protected override close(request: RedRequest): void {
    this.end(
      this.lanes.at(request.partition).order,
      request.id,
      request.failure ?? conflictError(request),
    );
  }
}

/** Floors wait for none of the red operations that may have seen less. */
class UnderWayUnknownRedPath extends RedPath {
  override get inFlight(): Iterable<OperationId> {
    return [];
  }
}

/** A strong read waits for nothing of what its session has seen. */
class UnwaitingRedPath extends RedPath {
  readonly #replica: Replica;

  constructor(replica: Replica) {
    super(replica);
    this.#replica = replica;
  }

  protected override replyToRead(_id: string, submission: Submission): void {
    this.#replica.reply(submission, 'strong', this.#replica.state.read(submission));
  }
}

/** Keeps an operation that was abandoned before it was sent: those behind it wait forever. */
class ClingingRedPath extends RedPath {
  override onWithdrawn(record: RedRecord): void {
    this.onNotWithdrawn(record);
  }
}

/** One site takes every second record before the one that it stands behind. */
class SwappingRedOrder extends RedOrder {
  readonly #isSwapping: boolean;
  #held: RedRecord | undefined;

  constructor(replica: Replica) {
    super(replica.options, replica.state);
    this.#isSwapping = replica.options.site === 2;
  }

  override deliver(record: RedRecord): void {
    if (!this.#isSwapping) return super.deliver(record);
    if (this.#held === undefined) {
      this.#held = record;
      return;
    }
    super.deliver(record);
    super.deliver(this.#held);
    this.#held = undefined;
  }
}

class LenientCertifier extends Certifier {
  protected override findConflict(): undefined {
    return undefined;
  }
}

/** Forgets what was scanned: a row that has come into it since is not noticed. */
class ScanlessCertifier extends Certifier {
  protected override findConflict(operation: RedOperation): Conflict | undefined {
    return super.findConflict({ ...operation, ranges: [] });
  }
}

/** Forgets what an operation has read, or depends on, where it writes the same. */
class SightlessCertifier extends Certifier {
  protected override findConflict(operation: RedOperation): Conflict | undefined {
    const written = new Set(findWrittenNames(operation.effects, new Set()));
    return super.findConflict({
      ...operation,
      reads: operation.reads.filter((name) => !written.has(name)),
    });
  }
}

const ENDS_REMOVAL = toRemovalName('', '').slice(1);

/** Forgets that rows which were found through an index could be removed. */
class IndexBlindCertifier extends Certifier {
  protected override findConflict(operation: RedOperation): Conflict | undefined {
    const { ranges = [], reads } = operation;
    if (ranges.every(({ field }) => field === undefined)) return super.findConflict(operation);
    return super.findConflict({
      ...operation,
      reads: reads.filter((name) => !name.endsWith(ENDS_REMOVAL)),
    });
  }
}

/** Believes that what an operation stood on has committed. */
class TrustingCertifier extends Certifier {
  protected override findUncommitted(): undefined {
    return undefined;
  }
}

/** Takes an execution at another site, or before a restart, for the one that was stood on. */
class IndifferentCertifier extends Certifier {
  protected override isSameStart(): boolean {
    return true;
  }
}

/** Lays operations over what others have changed since, as if they came last all the same. */
class BlindChain extends Pipeline {
  protected override move(): void {}
}

class ForgetfulCertifier extends Certifier {
  protected override isDecided(): boolean {
    return false;
  }
}

/** Trims its table without leaving a watermark: what comes late counts as new. */
class UnmarkedCertifier extends Certifier {
  override getOutcome(id: OperationId): ReturnType<Certifier['getOutcome']> {
    const ending = super.getOutcome(id);
    return ending === EXPIRED ? undefined : ending;
  }

  protected override isDecided(id: OperationId): boolean {
    return this.getOutcome(id) !== undefined;
  }
}

class EagerLog extends SequencedLog<RedRecord> {
  protected override getSendableLength(): number {
    return this.length;
  }
}

class ForgetfulLog extends SequencedLog<RedRecord> {
  override tick(): void {}
}

class ArrivalOrderState extends SiteState {
  #arrivals = 0;
  protected override getStamp(operation: BlueOperation): Stamp {
    this.#arrivals += 1;
    return { ...super.getStamp(operation), time: this.#arrivals };
  }
}

/** Takes any claim for its own: every site with a claim executes, not only the first. */
class GreedyWalks extends OperationLookups {
  readonly #site: Origin;

  constructor(host: OperationLookupHost) {
    super(host);
    this.#site = host.core.options.site;
  }

  protected override hasMovedOn(): boolean {
    return false;
  }

  protected override goTo(lookup: OperationLookup): void {
    super.goTo(lookup, { site: this.#site, hop: lookup.identity.hop });
  }
}

/**
 * Keys entries by the identifier alone: a log in which the operation has been claimed once is
 * closed to it for ever.
 */
class HoplessSlots extends DedupSlots {
  override find(id: OperationId): DedupSlot | typeof EXPIRED | undefined {
    for (let hop = 0; hop < 50; hop += 1) {
      const slot = super.find(id, hop);
      if (slot !== undefined) return slot;
    }
    return undefined;
  }
}

const STEPS_MAX = 100;

/**
 * Walks over such slots; one that has gone in circles for long is given up, as if it went on for
 * ever.
 */
class EndlessWalks extends OperationLookups {
  readonly #steps = new WeakMap<OperationLookup, number>();

  constructor(host: OperationLookupHost) {
    super(host, new HoplessSlots());
  }

  protected override goTo(
    lookup: OperationLookup,
    to: { readonly site: Origin; readonly hop: number },
  ): void {
    const steps = (this.#steps.get(lookup) ?? 0) + 1;
    this.#steps.set(lookup, steps);
    if (steps < STEPS_MAX) super.goTo(lookup, to);
  }
}

/** Returns the decision of a slot when the entry is appended, not when it counts. */
class HastySlots extends DedupSlots {
  override decide(id: OperationId, hop: number, decision: SlotDecision): DedupSlot {
    const slot = super.decide(id, hop, decision);
    this.finalize(id, slot);
    return slot;
  }
}

class UpdatesWithoutRecords extends Writes {
  protected override recordReply(
    { submission }: OperationLookup,
    { reply, failure }: ReplyRecord,
  ): void {
    if (failure === undefined && reply !== undefined) this.replyCommitted(submission, reply);
  }
}

class UpdatesThatRefuseAlone extends Writes {
  protected override isCertified(): boolean {
    return false;
  }
}

class BoastfulReplica extends Replica {
  override reply(submission: Submission, stage: Stage, answer: ReplyOrError): void {
    super.reply(submission, stage === 'committed' ? 'strong' : stage, answer);
  }
}

class UpdatesWithoutHandover extends Writes {
  readonly #red: RedPath;

  constructor(...args: ConstructorParameters<typeof Writes>) {
    super(...args);
    this.#red = args[2];
  }

  protected override handOver(
    { submission, identity }: OperationLookup,
    outcome: GeneratorOutcome,
  ): void {
    if (this.#red.join(identity.id, submission)) return;
    this.#red.begin(identity.id, submission, outcome, { isUndecided: false });
  }
}

class ReplicaThatForgetsSlots extends Replica {
  override restoreSlot(): void {}
}

class ReplicaThatBelievesClocks extends Replica {
  override acceptsStamp(): boolean {
    return true;
  }
}

class ReplicaThatJudgesThePast extends Replica {
  override acceptsStamp(_peer: number, stamp: number): boolean {
    return stamp / MICROS_PER_MS - this.wallMs <= this.options.maxClockSkewMs;
  }
}

class ReplicaAlone extends Replica {
  override ownBlueProgress(): { readonly applied: number; readonly durable: number } {
    const { applied } = super.ownBlueProgress();
    return { applied, durable: applied };
  }
}

class SessionlessCoverage extends CoverageWaiters {
  override isCovered(): boolean {
    return true;
  }
}

/** Leaves the identifiers of operations out of checkpoints. */
class ReplicaWithoutSavedIds extends Replica {
  override get sections(): Readonly<Record<string, Section>> {
    const { rows, commits } = super.sections;
    return { ...(rows && { rows }), ...(commits && { commits }) };
  }
}

/** Leaves what has arrived and is not visible yet out of checkpoints. */
class ForgetfulBluePath extends BluePath {
  override save(): SavedStream[] {
    return super.save().map((stream) => ({ ...stream, waiting: [] }));
  }
}

/** Removes entries that a checkpoint contains, even if other sites still lack them. */
class HastyMachine extends SiteMachine {
  override get retainedFrom(): LogPositions {
    return { local: Infinity, red: Infinity };
  }
}

/** Goes on behind a gap. */
class TrustingFeed<R> extends RedLogConsumer<R> {
  protected override onGap(delivery: Parameters<RedLogConsumer<R>['take']>[0]): readonly R[] {
    return this.accept(delivery);
  }
}

const withFeed =
  (Broken: typeof RedLogConsumer): MachineFactory =>
  (options, stored, nowMs, wallMs) => {
    class Machine extends SiteMachine {
      protected override createRedLogReader(
        log: RedLog<RedRecord>,
        saved: SavedLog | undefined,
      ): RedLogConsumer<RedRecord> {
        return new Broken(log, saved);
      }
    }
    return new Machine(options, stored, nowMs, wallMs);
  };

/** What a machine can be broken by, by name. */
export const BUGGY_REPLICAS = {
  trustingFeed: withFeed(TrustingFeed),
  blindBluePath: withBluePath((...args) => new BlindBluePath(...args)),
  selfishBluePath: withBluePath((...args) => new SelfishBluePath(...args)),
  gatelessRedPath: withRedOrder((...args) => new GatelessRedOrder(...args)),
  localReads: withRedPath((replica) => new LocalReadRedPath(replica)),
  hastyFloors: withRedPath((replica) => new UnderWayUnknownRedPath(replica)),
  hastyConflicts: withRedPath((replica) => new HastyConflictRedPath(replica)),
  clingingRedPath: withRedPath((replica) => new ClingingRedPath(replica)),
  swappedRecords: withRedPath(
    (replica) => new RedPath(replica, { createOrder: () => new SwappingRedOrder(replica) }),
  ),
  lenientCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new LenientCertifier(...args)),
  ),
  unwaitingReads: withRedPath((replica) => new UnwaitingRedPath(replica)),
  sightlessCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new SightlessCertifier(...args)),
  ),
  indexBlindCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new IndexBlindCertifier(...args)),
  ),
  scanlessCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new ScanlessCertifier(...args)),
  ),
  trustingCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new TrustingCertifier(...args)),
  ),
  indifferentCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new IndifferentCertifier(...args)),
  ),
  blindChain: withRedPath(
    (replica) => new RedPath(replica, { createPipeline: () => new BlindChain(replica) }),
  ),
  forgetfulCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new ForgetfulCertifier(...args)),
  ),
  unmarkedCertifier: withRedPath((replica) =>
    withCertifier(replica, (...args) => new UnmarkedCertifier(...args)),
  ),
  eagerLog: withLog(EagerLog),
  forgetfulLog: withLog(ForgetfulLog),
  greedyWalks: withWalks((host) => new GreedyWalks(host)),
  endlessWalks: withWalks((host) => new EndlessWalks(host)),
  hastySlots: withWalks((host) => new OperationLookups(host, new HastySlots())),
  unrecordedAnswers: withUpdates(UpdatesWithoutRecords),
  localRefusals: withUpdates(UpdatesThatRefuseAlone),
  boastful: withReplica(BoastfulReplica),
  noHandover: withUpdates(UpdatesWithoutHandover),
  forgottenSlots: withReplica(ReplicaThatForgetsSlots),
  unsavedIds: withReplica(ReplicaWithoutSavedIds),
  unsavedWaiting: withBluePath((...args) => new ForgetfulBluePath(...args)),
  hastyCompaction: (...args: Parameters<MachineFactory>) => new HastyMachine(...args),
  wildClocks: withReplica(ReplicaThatBelievesClocks),
  judgedPast: withReplica(ReplicaThatJudgesThePast),
  oneSiteIsEnough: withReplica(ReplicaAlone),
  arrivalOrder: withReplica(
    class extends Replica {
      protected override createState(): SiteState {
        return new ArrivalOrderState(this.options.service, this.options.origins, {
          identifierPrefix: this.name,
        });
      }
    },
  ),
  noSessions: withReplica(
    class extends Replica {
      protected override createCoverage(): CoverageWaiters {
        return new SessionlessCoverage(() => this.state.stable, this.options.origins);
      }
    },
  ),
} satisfies Readonly<Record<string, MachineFactory>>;
