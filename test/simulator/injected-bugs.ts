/**
 * Planted faults. A simulator that does not catch them proves nothing. They live here only; nothing
 * in production can be switched to them.
 */
import { withColors, type Service } from '../../src/server/service/service.ts';
import { CLUSTER_BUGS } from './cluster-bugs.ts';
import { ETCD_BUGS } from './etcd-bugs.ts';
import { RESTORATION_BUGS } from './restoration-bugs.ts';
import { PARTITION_BUGS } from './partition-bugs.ts';
import { BUGGY_COMPARISONS } from './buggy-comparisons.ts';
import { BUGGY_REPLICAS } from './buggy-replicas.ts';
import { BoastfulDisk, HalvingRowDisk, HastyRowDisk, LyingDisk } from './buggy-disks.ts';
import { BUGGY_RIGHTS } from './buggy-rights.ts';
import { BUGGY_STORAGE } from './buggy-storage.ts';
import { LYING_REPLICAS } from './lying-replicas.ts';
import { MISADDRESSED_MESSAGES } from './misaddressed-messages.ts';
import type { Profile, SimulationOptions } from '../../src/testing/simulator/options.ts';
import { simulatedService } from './service.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';

/** A fault, and the property that it breaks. */
export interface InjectedBug {
  readonly parts?: Partial<RunParts>;
  /** The rule that it breaks. */
  readonly rule: string;
  /** Names of the checkers of which one has to notice. */
  readonly caughtBy: readonly string[];
  readonly profile: Profile;
  /** Options in the place of drawn ones: what makes the fault likely to show. */
  readonly overrides?: Partial<SimulationOptions>;
  readonly service?: Service;
  /** Of what shows itself seldom: a seed that did show it, with which tests begin. */
  readonly shownBy?: number;
}

/** Clients that move often, between sites that crash. */
const MOVING: Partial<SimulationOptions> = {
  siteCount: 3,
  moveChance: 0.8,
  workload: 'bank',
  clientTimeoutMs: 150,
};

/** Sites that write one row, each several times at once. */
const HOT: Partial<SimulationOptions> = {
  siteCount: 2,
  clientCount: 10,
  workload: 'hot',
  thinkMeanMs: 1,
  maxPipelineLength: 64,
};

/** Sites that all take what is nearly gone. */
const RIGHTS: Partial<SimulationOptions> = {
  scenario: 'rights',
  siteCount: 3,
  clientCount: 8,
  operationsPerClient: 20,
  thinkMeanMs: 5,
};

/** Sites that soon compare what they have changed. */
const COMPARING: Partial<SimulationOptions> = {
  scenario: 'roster',
  siteCount: 3,
  compareIntervalMs: 10,
  maxComparedRows: 1000,
};

/** Sites that often commit their rows, for long, and crash meanwhile. */
const COMMITTING: Partial<SimulationOptions> = {
  checkpointBytes: 500,
  segmentBytes: 1000,
  commitMeanMs: 50,
  crashEveryMs: 300,
};

/** All planted faults by name. */
export const INJECTED_BUGS: Readonly<Record<string, InjectedBug>> = {
  // @rule RB-B3
  'blue-before-its-causes': {
    rule: 'a blue operation becomes visible only after what it depends on',
    caughtBy: ['causal order'],
    profile: 'lossy',
    parts: BUGGY_REPLICAS.blindBluePath,
    shownBy: 3,
  },
  // @rule RB-R4
  'no-gate': {
    rule: 'a red operation becomes visible only after its blue dependencies',
    caughtBy: ['causal order'],
    profile: 'partitions',
    parts: BUGGY_REPLICAS.gatelessRedPath,
  },
  'no-certification': {
    rule: 'a red operation commits only if what it read is still so',
    caughtBy: ['serializability'],
    profile: 'calm',
    parts: BUGGY_REPLICAS.lenientCertifier,
    shownBy: 6,
  },
  'sightless-writes': {
    rule: 'a red operation commits only if what it has read is still so, though it writes the same',
    caughtBy: ['serializability'],
    profile: 'calm',
    parts: BUGGY_REPLICAS.sightlessCertifier,
    shownBy: 6,
  },
  'sightless-takes': {
    rule: 'a red take commits only if no other take has drawn on the pool since',
    caughtBy: ['rights', 'serializability'],
    profile: 'calm',
    overrides: RIGHTS,
    parts: BUGGY_REPLICAS.sightlessCertifier,
  },
  'no-phantoms': {
    rule: 'a red operation commits only if no row has come into what it scanned',
    caughtBy: ['invariants'],
    profile: 'calm',
    shownBy: 12,
    parts: BUGGY_REPLICAS.scanlessCertifier,
  },
  'hasty-floors': {
    rule: 'a floor waits for red operations that may have seen less',
    caughtBy: ['floors'],
    profile: 'partitions',
    overrides: {
      scenario: 'roster',
      siteCount: 3,
      removalsPerWatermark: 1,
      maxRedInFlight: Infinity,
    },
    parts: BUGGY_REPLICAS.hastyFloors,
  },
  'index-scans-miss-removals': {
    rule: 'a red operation commits only if no row that it found through an index was removed',
    caughtBy: ['oracle'],
    profile: 'swarm',
    shownBy: 11,
    overrides: { scenario: 'roster' },
    parts: BUGGY_REPLICAS.indexBlindCertifier,
  },
  'rejected-ones-hold': {
    rule: 'what stands on a rejected operation is rejected',
    caughtBy: ['serializability'],
    profile: 'calm',
    overrides: HOT,
    parts: BUGGY_REPLICAS.trustingCertifier,
  },
  'any-execution-holds': {
    rule: 'an operation stands on executions of its own site and start',
    caughtBy: ['serializability'],
    profile: 'moves',
    overrides: { ...HOT, siteCount: 3, moveChance: 0.8, clientTimeoutMs: 150 },
    parts: BUGGY_REPLICAS.indifferentCertifier,
  },
  'laid-over-what-came-later': {
    rule: 'what others have changed since is not stood on',
    caughtBy: ['oracle'],
    profile: 'calm',
    overrides: { ...HOT, maxSkewMs: 0 },
    parts: BUGGY_REPLICAS.blindChain,
  },
  'strong-reads-without-sessions': {
    rule: 'a strong read shows what its session has seen',
    caughtBy: ['sessions'],
    profile: 'moves',
    shownBy: 6,
    overrides: { siteCount: 3, moveChance: 0.8, sessionChance: 1, clientTimeoutMs: 150 },
    parts: BUGGY_REPLICAS.unwaitingReads,
  },
  'all-blue-bank': {
    rule: 'a withdrawal is red (RedBlue, OSDI 2012, Figure 5)',
    caughtBy: ['invariants'],
    profile: 'calm',
    service: withColors(simulatedService(), { withdraw: 'blue' }),
    shownBy: 12,
  },
  'all-blue-seats': {
    rule: 'a reservation is red: no row shows that a seat has two, only all of them together',
    caughtBy: ['invariants'],
    profile: 'calm',
    shownBy: 13,
    service: withColors(simulatedService(), { reserve: 'blue' }),
  },
  'messages-of-an-older-start': {
    rule: 'what an earlier start of a site has sent is not taken any more',
    caughtBy: ['terms'],
    profile: 'crashes',
    overrides: {
      siteCount: 3,
      isOrdered: false,
      delayMeanMs: 200,
      downMeanMs: 1,
      crashEveryMs: 300,
    },
    parts: MISADDRESSED_MESSAGES.starts,
  },
  // @rule BS-O2
  'origin-taken-for-an-index': {
    rule: 'an origin is an ordinal, and no place in a list of sites',
    caughtBy: ['durability', 'progress', 'convergence'],
    profile: 'loss',
    shownBy: 218,
    overrides: { siteCount: 3 },
    parts: MISADDRESSED_MESSAGES.origins,
  },
  'swapped-records': {
    rule: 'every site takes the red log in the same order',
    caughtBy: ['red total order'],
    profile: 'calm',
    overrides: { siteCount: 3 },
    parts: BUGGY_REPLICAS.swappedRecords,
  },
  'unsynced-sequencer': {
    rule: 'the leader sends only what is synced in its own log',
    caughtBy: [
      'red total order',
      'exactly once',
      'durability',
      'convergence',
      'progress',
      'causal order',
    ],
    shownBy: 58,
    profile: 'crashes',
    parts: BUGGY_REPLICAS.eagerLog,
  },
  // @rule RB-B1
  'no-sync': {
    rule: 'acknowledged means in a synced log',
    // A start that finds holes among entries that were reported as synced is rejected, mostly
    // before other losses are noticed.
    caughtBy: ['durability', 'crash'],
    profile: 'crashes',
    overrides: { syncMeanMs: 100 },
    parts: { SimulatedDisk: LyingDisk },
    shownBy: 7,
  },
  // @rule STO-13
  'counted-before-earlier-ones': {
    rule: 'a write counts once those before it are on the disk too',
    caughtBy: ['durability', 'exactly once', 'progress', 'convergence', 'causal order'],
    profile: 'crashes',
    shownBy: 143,
    overrides: { syncMeanMs: 100, largeGroup: 1, thinkMeanMs: 1 },
    parts: BUGGY_STORAGE.unordered,
  },
  'past-a-gap': {
    rule: 'nothing is taken of the red log behind a gap',
    caughtBy: [
      'red total order',
      'serializability',
      'exactly once',
      'convergence',
      'durability',
      'oracle',
      'progress',
    ],
    profile: 'calm',
    shownBy: 2,
    overrides: { siteCount: 3, redJumpChance: 0.05 },
    parts: BUGGY_REPLICAS.trustingFeed,
  },
  'acknowledged-though-fenced': {
    rule: 'what was appended to a log that another one has taken over is not acknowledged',
    caughtBy: [
      'durability',
      'exactly once',
      'convergence',
      'causal order',
      'red total order',
      'progress',
      'crash',
    ],
    profile: 'crashes',
    overrides: { deposeEveryMs: 300, crashEveryMs: 500 },
    parts: { SimulatedDisk: BoastfulDisk },
  },
  // @rule STO-15
  'forgiving-storage': {
    rule: 'checkpoint and logs meet, or there is no start',
    caughtBy: ['damage'],
    profile: 'crashes',
    overrides: { damageChance: 0.5, checkpointBytes: 500 },
    parts: BUGGY_STORAGE.forgiving,
  },
  // @rule RB-B4
  'arrival-order': {
    rule: 'the last writer wins by time, not by arrival',
    caughtBy: ['convergence'],
    profile: 'calm',
    shownBy: 4,
    parts: BUGGY_REPLICAS.arrivalOrder,
  },
  'local-strong-reads': {
    rule: 'a strong read is ordered by the red log',
    caughtBy: ['strong reads', 'oracle'],
    profile: 'calm',
    shownBy: 3,
    parts: BUGGY_REPLICAS.localReads,
  },
  'local-refusals': {
    rule: 'a write that may be red and chooses nothing is certified',
    caughtBy: ['levels'],
    profile: 'calm',
    overrides: { workload: 'bank' },
    parts: BUGGY_REPLICAS.localRefusals,
  },
  'local-answers-are-strong': {
    rule: 'what one site answers by itself is never called strong',
    caughtBy: ['levels', 'oracle'],
    profile: 'calm',
    parts: BUGGY_REPLICAS.boastful,
  },
  'no-resending': {
    rule: 'what the network lost is sent again',
    caughtBy: ['progress'],
    profile: 'lossy',
    parts: BUGGY_REPLICAS.forgetfulLog,
  },
  'no-deduplication': {
    rule: 'an operation that comes twice takes effect once',
    caughtBy: ['exactly once'],
    profile: 'crashes',
    parts: BUGGY_REPLICAS.forgetfulCertifier,
    shownBy: 3,
  },
  'every-claim-wins': {
    rule: 'the first entry of a slot decides it: one claim wins (hole 1)',
    caughtBy: ['exactly once'],
    profile: 'moves',
    shownBy: 2,
    overrides: MOVING,
    parts: BUGGY_REPLICAS.greedyWalks,
  },
  'slots-without-hops': {
    rule: 'a slot is (log, identifier, hop): a client that comes back finds an open one (hole 2)',
    caughtBy: ['progress'],
    profile: 'moves',
    overrides: MOVING,
    parts: BUGGY_REPLICAS.endlessWalks,
  },
  'result-before-sync': {
    rule: 'a slot is decided by an entry that is synced, and read back (hole 3)',
    caughtBy: ['exactly once', 'durability'],
    profile: 'moves',
    shownBy: 2,
    overrides: { ...MOVING, syncMeanMs: 100 },
    parts: BUGGY_REPLICAS.hastySlots,
  },
  'shown-before-synced': {
    rule: 'effects are visible only once their entry is decided (hole 4)',
    caughtBy: [
      'red total order',
      'causal order',
      'durability',
      'exactly once',
      'sessions',
      'convergence',
    ],
    profile: 'moves',
    shownBy: 296,
    // Without it, damaged files stop nearly every run before anything wrong is shown.
    overrides: { ...MOVING, syncMeanMs: 100, damageChance: 0 },
    parts: { SimulatedDisk: LyingDisk },
  },
  'red-without-handover': {
    rule: 'an operation that may be blue is handed over before it goes to the red log (hole 5)',
    caughtBy: ['exactly once'],
    profile: 'moves',
    shownBy: 50,
    overrides: MOVING,
    parts: BUGGY_REPLICAS.noHandover,
  },
  'unrecorded-answers': {
    rule: 'a result without effects is an entry before it is returned (hole 6)',
    caughtBy: ['exactly once'],
    profile: 'moves',
    shownBy: 6,
    overrides: MOVING,
    parts: BUGGY_REPLICAS.unrecordedAnswers,
  },
  'conflict-without-record': {
    rule: 'CONFLICT is a record before it is returned (hole 7)',
    caughtBy: ['exactly once'],
    profile: 'moves',
    overrides: { ...MOVING, maxAttempts: 1 },
    parts: BUGGY_REPLICAS.hastyConflicts,
  },
  'expired-counts-as-new': {
    rule: 'identifiers leave the table behind a watermark (holes 8 and 9)',
    caughtBy: ['exactly once'],
    profile: 'lossy',
    parts: BUGGY_REPLICAS.unmarkedCertifier,
  },
  'restart-forgets-slots': {
    rule: 'a restart brings back the table of identifiers (hole 10)',
    caughtBy: ['exactly once'],
    profile: 'crashes',
    parts: BUGGY_REPLICAS.forgottenSlots,
  },
  // @rule STO-8
  'checkpoint-without-identifiers': {
    rule: 'checkpoints carry the tables of identifiers (hole 10)',
    caughtBy: ['exactly once', 'progress', 'convergence', 'red total order'],
    profile: 'crashes',
    overrides: { checkpointBytes: 500 },
    parts: BUGGY_REPLICAS.unsavedIds,
  },
  'checkpoint-without-what-waits': {
    rule: 'checkpoints carry what has arrived and is not visible yet',
    caughtBy: [
      'durability',
      'progress',
      'convergence',
      'causal order',
      'exactly once',
      'red total order',
    ],
    profile: 'crashes',
    shownBy: 217,
    overrides: { siteCount: 3, checkpointBytes: 500, lossChance: 0.3, isOrdered: false },
    parts: BUGGY_REPLICAS.unsavedWaiting,
  },
  // @rule STO-7
  'saved-after-the-cut': {
    rule: 'a checkpoint has the rows as they were when it was cut',
    caughtBy: ['convergence', 'causal order', 'durability', 'exactly once', 'invariants', 'oracle'],
    profile: 'crashes',
    overrides: { checkpointBytes: 500, maxTurnCharacters: 100, workload: 'bank' },
    shownBy: 6,
    parts: BUGGY_STORAGE.lateRows,
  },
  'some-of-the-rows': {
    rule: 'a checkpoint has all rows that have changed since the one before',
    caughtBy: ['convergence', 'durability', 'exactly once', 'invariants', 'oracle', 'crash'],
    profile: 'crashes',
    overrides: { ...COMMITTING, maxRequestedRows: 2 },
    parts: BUGGY_STORAGE.someOfRows,
  },
  // @rule STO-7
  'half-a-commit': {
    rule: 'a commit is in the store as a whole or not at all',
    caughtBy: ['convergence', 'durability', 'exactly once', 'invariants', 'oracle', 'crash'],
    profile: 'crashes',
    overrides: COMMITTING,
    parts: { SimulatedDisk: HalvingRowDisk },
  },
  // @rule STO-9
  'dropped-when-visible': {
    rule: 'entries of logs are dropped once a commit with them is synced, and not before',
    caughtBy: ['crash', 'durability', 'exactly once'],
    profile: 'crashes',
    overrides: COMMITTING,
    parts: { SimulatedDisk: HastyRowDisk },
  },
  // @rule STO-15
  'cut-beyond-the-log': {
    rule: 'a cut behind the end of a log is refused',
    caughtBy: ['damage'],
    profile: 'crashes',
    overrides: { ...COMMITTING, damageChance: 0.5 },
    parts: BUGGY_STORAGE.beyondTheLog,
  },
  'old-store': {
    rule: 'rows are refused that lack entries which the logs have dropped',
    caughtBy: [
      'damage',
      'convergence',
      'durability',
      'exactly once',
      'invariants',
      'oracle',
      'crash',
    ],
    profile: 'crashes',
    overrides: { ...COMMITTING, damageChance: 0.5 },
    parts: BUGGY_STORAGE.oldStore,
  },
  // @rule STO-35
  'window-by-memory': {
    rule: 'what the prefix of a log decides does not depend on the memory of a site',
    caughtBy: ['convergence', 'red total order', 'progress', 'serializability'],
    profile: 'lossy',
    overrides: { siteCount: 3, maxMemoryBytes: 50_000, operationsPerClient: 30 },
    parts: BUGGY_REPLICAS.windowByMemory,
  },
  // @rule STO-9
  'compacted-too-early': {
    rule: 'logs keep what another site may lack',
    caughtBy: ['progress', 'convergence', 'durability'],
    profile: 'crashes',
    shownBy: 29,
    // Damage would end some sites before they miss anything.
    overrides: { siteCount: 3, checkpointBytes: 500, segmentBytes: 1000, damageChance: 0 },
    parts: BUGGY_REPLICAS.hastyCompaction,
  },
  'no-sessions': {
    rule: 'a site waits until it has what a session has seen',
    caughtBy: ['sessions'],
    profile: 'moves',
    overrides: { siteCount: 3, moveChance: 0.8, sessionChance: 1, clientTimeoutMs: 150 },
    parts: BUGGY_REPLICAS.noSessions,
    shownBy: 2,
  },
  'no-quarantine': {
    rule: 'what carries a wild stamp is refused',
    caughtBy: ['clocks'],
    profile: 'clocks',
    overrides: { siteCount: 3 },
    parts: BUGGY_REPLICAS.wildClocks,
  },
  'stamps-of-the-past': {
    rule: 'clocks are judged as they are now, not by the stamps of the past',
    caughtBy: ['progress', 'convergence'],
    profile: 'clocks',
    overrides: { siteCount: 3, wildClockAheadMs: 1e9 },
    parts: BUGGY_REPLICAS.judgedPast,
  },
  'one-site-is-enough': {
    rule: 'a red record waits until its blue dependencies are at a second site',
    caughtBy: ['progress', 'convergence'],
    profile: 'loss',
    shownBy: 38,
    overrides: { siteCount: 3, workload: 'bank', lossChance: 0.4, duplicateChance: 0 },
    parts: BUGGY_REPLICAS.oneSiteIsEnough,
  },
  'not-passed-on': {
    rule: 'sites pass on the operations of a site that is gone',
    caughtBy: ['progress', 'convergence', 'durability'],
    profile: 'loss',
    shownBy: 6,
    overrides: { siteCount: 3 },
    parts: BUGGY_REPLICAS.selfishBluePath,
  },
  'done-but-reported-as-rejected': {
    rule: 'OVERLOADED means that nothing was done',
    shownBy: 124,
    caughtBy: ['exactly once'],
    profile: 'calm',
    parts: LYING_REPLICAS.done,
  },
  'abandoned-but-reported-as-undone': {
    rule: 'ABORTED of an abandoned operation means that nothing was done, nor will be',
    caughtBy: ['exactly once'],
    profile: 'leaving',
    parts: LYING_REPLICAS.given,
  },
  'given-up-and-kept': {
    rule: 'what is given up before it has left its site is as if it had never come',
    caughtBy: ['leftovers', 'progress'],
    profile: 'leaving',
    overrides: { maxWindow: 1, siteCount: 3, giveUpChance: 0.7 },
    parts: BUGGY_REPLICAS.clingingRedPath,
  },
  'guesses-out-of-the-air': {
    rule: 'a guess is what comes of the run on what the site shows, where nothing else of it is in flight',
    caughtBy: ['oracle'],
    profile: 'calm',
    parts: LYING_REPLICAS.guesses,
  },
  'meta-of-its-own': {
    rule: 'the details of a final view come out of its place too',
    caughtBy: ['oracle'],
    profile: 'calm',
    parts: LYING_REPLICAS.meta,
    shownBy: 3,
  },
  'weak-views-that-fail': {
    rule: 'a level fails only where its generator does',
    caughtBy: ['oracle'],
    profile: 'calm',
    parts: LYING_REPLICAS.weakViews,
  },
  'codes-at-random': {
    rule: 'a read meets no conflict',
    caughtBy: ['answers'],
    profile: 'calm',
    parts: LYING_REPLICAS.codes,
  },
  'conflict-at-once': {
    rule: 'CONFLICT comes after the maximum number of executions',
    caughtBy: ['answers'],
    profile: 'calm',
    overrides: { ...HOT, maxAttempts: 10 },
    parts: LYING_REPLICAS.attempts,
  },
  'refused-where-there-is-room': {
    rule: 'OVERLOADED comes if as much waits as may',
    caughtBy: ['refusals'],
    profile: 'calm',
    overrides: { clientCount: 6, thinkMeanMs: 5, maxRedInFlight: 5 },
    parts: LYING_REPLICAS.halfFull,
    shownBy: 8,
  },
  'behind-at-once': {
    rule: 'REPLICA_BEHIND comes after the session timeout',
    caughtBy: ['refusals'],
    profile: 'partitions',
    overrides: { siteCount: 3, moveChance: 0.8, sessionChance: 1, clientTimeoutMs: 150 },
    parts: LYING_REPLICAS.behindAtOnce,
  },
  'rights-away-at-once': {
    rule: 'UNAVAILABLE comes after the wait time for rights',
    caughtBy: ['refusals'],
    profile: 'partitions',
    overrides: RIGHTS,
    parts: LYING_REPLICAS.rightsAwayAtOnce,
  },
  'outcome-twice': {
    rule: 'a submission gets one outcome',
    caughtBy: ['answers'],
    profile: 'calm',
    parts: LYING_REPLICAS.twice,
  },
  // @rule RIGHTS-7
  'rights-created': {
    rule: 'a transfer of rights takes effect once',
    caughtBy: ['rights', 'oracle', 'convergence'],
    profile: 'lossy',
    overrides: RIGHTS,
    parts: BUGGY_RIGHTS.created,
  },
  'rights-lost-for-good': {
    rule: 'what a site gives away another one has',
    caughtBy: ['rights', 'oracle', 'convergence'],
    profile: 'crashes',
    overrides: RIGHTS,
    parts: BUGGY_RIGHTS.lost,
  },
  'a-take-beyond-rights': {
    rule: 'a take is decided with the own takes deducted that are not synced',
    caughtBy: ['rights'],
    profile: 'calm',
    overrides: { ...RIGHTS, syncMeanMs: 50, thinkMeanMs: 1 },
    parts: BUGGY_RIGHTS.forgetful,
  },
  'a-red-take-beside-a-blue-one': {
    rule: 'a red take draws on the pool, which no site takes from by itself',
    caughtBy: ['rights'],
    profile: 'calm',
    overrides: RIGHTS,
    parts: BUGGY_RIGHTS.greedy,
  },
  'a-question-asked-once': {
    rule: 'a question for rights is retried where nothing comes',
    caughtBy: ['waits'],
    profile: 'partitions',
    shownBy: 26,
    overrides: {
      ...RIGHTS,
      minDelayMs: 0,
      delayMeanMs: 5,
      syncMeanMs: 2,
      maxWindow: 1000,
      clientTimeoutMs: 2000,
    },
    parts: BUGGY_RIGHTS.patient,
  },
  'a-gate-that-sleeps': {
    rule: 'a part that gets work is due: the gate, once the red log has delivered a record',
    caughtBy: ['due parts'],
    profile: 'calm',
    parts: BUGGY_REPLICAS.sleepingGate,
  },
  'a-throttle-that-sleeps': {
    rule: 'a part that gets work is due: executions, once a request waits for a slot',
    caughtBy: ['due parts'],
    profile: 'calm',
    parts: BUGGY_REPLICAS.sleepingThrottle,
    shownBy: 3,
  },
  'rights-that-wake-nothing': {
    rule: 'a part that gets work is due: rights, once a field has changed',
    caughtBy: ['due parts'],
    profile: 'calm',
    overrides: RIGHTS,
    parts: BUGGY_RIGHTS.sleeping,
  },
  'blue-called-strong': {
    rule: 'views at strong come out of the red order only, in any service',
    caughtBy: ['oracle'],
    profile: 'calm',
    overrides: { scenario: 'roster' },
    parts: LYING_REPLICAS.levels,
  },
  // @rule STO-39
  'effects-of-others-lost': {
    rule: 'sites that have diverged notice it',
    caughtBy: ['comparisons'],
    profile: 'calm',
    overrides: COMPARING,
    parts: BUGGY_COMPARISONS.lostEffects,
  },
  'removals-of-others-lost': {
    rule: 'a row that one of two sites has not removed is found',
    caughtBy: ['comparisons'],
    profile: 'calm',
    overrides: COMPARING,
    parts: BUGGY_COMPARISONS.lostRemovals,
  },
  'digest-of-saved-bytes': {
    rule: 'a digest has no more of a row than what converges',
    caughtBy: ['comparisons'],
    profile: 'crashes',
    overrides: { ...COMPARING, removalsPerWatermark: 1 },
    parts: BUGGY_COMPARISONS.savedBytes,
    shownBy: 5,
  },
  'digest-leaves-out-removals': {
    rule: 'rows are compared that only one of two sites has removed',
    caughtBy: ['comparisons'],
    profile: 'calm',
    overrides: COMPARING,
    parts: BUGGY_COMPARISONS.withoutRemovals,
    shownBy: 12,
  },
  'removals-are-no-changes': {
    rule: 'rows that later operations have removed are left out',
    caughtBy: ['comparisons'],
    profile: 'partitions',
    overrides: COMPARING,
    parts: BUGGY_COMPARISONS.unnotedRemovals,
    shownBy: 20,
  },
  ...CLUSTER_BUGS,
  ...RESTORATION_BUGS,
  ...ETCD_BUGS,
  ...PARTITION_BUGS,
};
