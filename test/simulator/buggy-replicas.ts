/** Parts of sites that each break one rule: what planted faults are made of. */
import { toRemovalName, findWrittenNames } from '../../src/server/service/generator/read-set.ts';
import { RedLogConsumer } from '../../src/server/log/red-log-consumer.ts';
import { SequencedLog } from '../../src/server/log/sequenced/sequenced-log.ts';
import type { RedRecord } from '../../src/server/service/records/records.ts';
import { BluePath } from '../../src/server/site/parts/blue/blue-path.ts';
import { ClockQuarantine } from '../../src/server/site/core/clock-quarantine.ts';
import { CoverageWaiters } from '../../src/server/site/core/coverage-waiters.ts';
import { SiteState } from '../../src/server/site/core/site-state.ts';
import { DedupSlots } from '../../src/server/site/parts/lookups/dedup-slots.ts';
import { EXPIRED } from '../../src/server/site/parts/lookups/id-table.ts';
import {
  OperationLookups,
  type OperationLookup,
} from '../../src/server/site/parts/lookups/operation-lookup.ts';
import { Certifier, CERTIFIER_LIMITS } from '../../src/server/site/lane/order/certifier.ts';
import { PartitionCertifier } from '../../src/server/site/lane/order/partition-certifier.ts';
import { RedOrder } from '../../src/server/site/lane/order/red-order.ts';
import { RedPath } from '../../src/server/site/lane/red-path.ts';
import { Pipeline } from '../../src/server/site/lane/requests/pipeline.ts';
import { conflictError } from '../../src/server/site/lane/requests/retry-policy.ts';
import type { PartOptions } from '../../src/server/site/core/site-core.ts';
import { Writes } from '../../src/server/site/parts/writes.ts';
import { Site } from '../../src/server/site/site.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

const MICROS_PER_MS = 1000;

/** Replaces methods of the certifiers, with one red log and with several. */
const withCertifier = (
  replace: (original: Certifier) => Partial<Certifier>,
): Partial<RunParts> => ({
  Certifier: replaceMethods(Certifier, replace),
  PartitionCertifier: replaceMethods(PartitionCertifier, replace),
});

const ENDS_REMOVAL = toRemovalName('', '').slice(1);

/** A log in which an operation has been claimed once is closed to it for ever. */
const HoplessSlots = replaceMethods(DedupSlots, (original) => ({
  find: (id) => {
    for (let hop = 0; hop < 50; hop += 1) {
      const slot = original.find(id, hop);
      if (slot !== undefined) return slot;
    }
    return undefined;
  },
}));

const STEPS_MAX = 100;

/** A lookup that has gone in circles for long is given up, as if it went on for ever. */
const EndlessLookups = replaceMethods(OperationLookups, (original) => {
  const steps = new WeakMap<OperationLookup, number>();
  return {
    goTo: (lookup, to) => {
      const step = (steps.get(lookup) ?? 0) + 1;
      steps.set(lookup, step);
      if (step < STEPS_MAX) original.goTo(lookup, to);
    },
  };
});

/** What a site can be broken by, by name. */
export const BUGGY_REPLICAS = {
  /** Goes on behind a gap. */
  trustingFeed: {
    RedLogConsumer: replaceMethods(RedLogConsumer, (original) => ({
      onGap: (delivery) => original.accept(delivery),
    })),
  },

  blindBluePath: { BluePath: replaceMethods(BluePath, () => ({ isVisible: () => true })) },
  selfishBluePath: { BluePath: replaceMethods(BluePath, () => ({ onHave: () => {} })) },
  gatelessRedPath: { RedOrder: replaceMethods(RedOrder, () => ({ mayPass: () => true })) },

  localReads: {
    RedPath: replaceMethods(RedPath, (original) => ({
      read: (id, submission) => original.replyToRead(id, submission),
    })),
  },

  /** Floors wait for none of the red operations that may have seen less. */
  hastyFloors: {
    RedPath: replaceMethods(RedPath, () => ({
      get inFlight() {
        return [];
      },
    })),
  },

  hastyConflicts: {
    RedPath: replaceMethods(RedPath, (original) => ({
      close: (request) =>
        original.end(
          original.lanes.at(request.partition).order,
          request.id,
          request.failure ?? conflictError(request),
        ),
    })),
  },

  /** Keeps an operation that was abandoned before it was sent: those behind it wait forever. */
  clingingRedPath: {
    RedPath: replaceMethods(RedPath, (original) => ({
      onWithdrawn: (record) => original.onNotWithdrawn(record),
    })),
  },

  /** A strong read waits for nothing of what its session has seen. */
  unwaitingReads: {
    RedPath: replaceMethods(RedPath, (_, core) => ({
      replyToRead: (_id, submission) =>
        core.reply(submission, 'strong', core.state.read(submission)),
    })),
  },

  /** One site takes every second record before the one that it stands behind. */
  swappedRecords: {
    RedOrder: replaceMethods(RedOrder, (original, options) => {
      const isSwapping = 'site' in options && options.site === 2;
      let held: RedRecord | undefined;
      return {
        deliver: (record) => {
          if (!isSwapping) return original.deliver(record);
          if (held === undefined) {
            held = record;
            return;
          }
          original.deliver(record);
          original.deliver(held);
          held = undefined;
        },
      };
    }),
  },

  lenientCertifier: withCertifier(() => ({ findConflict: () => undefined })),

  /** Forgets what an operation has read, or depends on, where it writes the same. */
  sightlessCertifier: withCertifier((original) => ({
    findConflict: (operation) => {
      const written = new Set(findWrittenNames(operation.effects, new Set()));
      const reads = operation.reads.filter((name) => !written.has(name));
      return original.findConflict({ ...operation, reads });
    },
  })),

  /** Forgets that rows which were found through an index could be removed. */
  indexBlindCertifier: withCertifier((original) => ({
    findConflict: (operation) => {
      const { ranges = [] } = operation;
      if (ranges.every(({ field }) => field === undefined)) return original.findConflict(operation);
      const reads = operation.reads.filter((name) => !name.endsWith(ENDS_REMOVAL));
      return original.findConflict({ ...operation, reads });
    },
  })),

  /** Forgets what was scanned: a row that has come into it since is not noticed. */
  scanlessCertifier: withCertifier((original) => ({
    findConflict: (operation) => original.findConflict({ ...operation, ranges: [] }),
  })),

  /** Believes that what an operation stood on has committed. */
  trustingCertifier: withCertifier(() => ({ findUncommitted: () => undefined })),

  /** Takes an execution at another site, or before a restart, for the one that was stood on. */
  indifferentCertifier: withCertifier(() => ({ isSameStart: () => true })),

  /** Lays operations over what others have changed since, as if they came last all the same. */
  blindChain: { Pipeline: replaceMethods(Pipeline, () => ({ move: () => {} })) },

  forgetfulCertifier: withCertifier(() => ({ isDecided: () => false })),

  /** Trims its table without leaving a watermark: what comes late counts as new. */
  unmarkedCertifier: withCertifier((original) => {
    const getOutcome: Certifier['getOutcome'] = (id) => {
      const ending = original.getOutcome(id);
      return ending === EXPIRED ? undefined : ending;
    };
    return { getOutcome, isDecided: (id) => getOutcome(id) !== undefined };
  }),

  /** Remembers as many commits as its memory is thought to hold. */
  windowByMemory: {
    RedOrder: replaceArguments(RedOrder, (options, ...others) => {
      const { maxMemoryBytes = Infinity } = options as PartOptions;
      const maxWindowCommits = Math.max(1, Math.floor((maxMemoryBytes - 50_000) / 5000));
      const limits = { ...CERTIFIER_LIMITS, maxWindowCommits };
      return [{ ...options, retentionLimits: limits }, ...others] as const;
    }),
  },

  eagerLog: {
    SequencedLog: replaceMethods(SequencedLog, (original) => ({
      getSendableLength: () => original.length,
    })),
  },
  forgetfulLog: { SequencedLog: replaceMethods(SequencedLog, () => ({ tick: () => {} })) },

  /** Takes any claim for its own: every site with a claim executes, not only the first. */
  greedyWalks: {
    OperationLookups: replaceMethods(OperationLookups, (original, { core }) => ({
      hasMovedOn: () => false,
      goTo: (lookup) =>
        original.goTo(lookup, { site: core.options.site, hop: lookup.identity.hop }),
    })),
  },

  endlessWalks: { OperationLookups: EndlessLookups, DedupSlots: HoplessSlots },

  /** Returns the decision of a slot when the entry is appended, not when it counts. */
  hastySlots: {
    DedupSlots: replaceMethods(DedupSlots, (original) => ({
      decide: (id, hop, decision) => {
        const slot = original.decide(id, hop, decision);
        original.finalize(id, slot);
        return slot;
      },
    })),
  },

  unrecordedAnswers: {
    Writes: replaceMethods(Writes, (original) => ({
      recordReply: ({ submission }, { reply, failure }) => {
        if (failure === undefined && reply !== undefined)
          original.replyCommitted(submission, reply);
      },
    })),
  },

  localRefusals: { Writes: replaceMethods(Writes, () => ({ isCertified: () => false })) },

  boastful: {
    Site: replaceMethods(Site, (original) => ({
      reply: (submission, stage, answer) =>
        original.reply(submission, stage === 'committed' ? 'strong' : stage, answer),
    })),
  },

  noHandover: {
    Writes: replaceMethods(Writes, (_original, _core, _blue, red) => ({
      handOver: ({ submission, identity }, outcome) => {
        if (red.join(identity.id, submission)) return;
        red.begin(identity.id, submission, outcome, { isUndecided: false });
      },
    })),
  },

  forgottenSlots: { DedupSlots: replaceMethods(DedupSlots, () => ({ restore: () => {} })) },

  /** Leaves the identifiers of operations out of checkpoints. */
  unsavedIds: {
    DedupSlots: replaceMethods(DedupSlots, () => ({ sections: {} })),
    RedOrder: replaceMethods(RedOrder, (original) => ({
      get sections() {
        const isOfCommits = ([name]: [string, unknown]): boolean => name.startsWith('commits');
        return Object.fromEntries(Object.entries(original.sections).filter(isOfCommits));
      },
    })),
  },

  /** Leaves what has arrived and is not visible yet out of checkpoints. */
  unsavedWaiting: {
    BluePath: replaceMethods(BluePath, (original) => ({
      save: () => original.save().map((stream) => ({ ...stream, waiting: [] })),
    })),
  },

  /** Removes entries that a checkpoint contains, even if other sites still lack them. */
  hastyCompaction: {
    Site: replaceMethods(Site, () => ({
      get retainedFrom() {
        return { local: Infinity, red: Infinity };
      },
    })),
  },

  /** Believes all clocks. */
  wildClocks: {
    ClockQuarantine: replaceMethods(ClockQuarantine, () => ({ acceptsStampsFrom: () => true })),
  },

  /** Judges clocks by the stamps of the past. */
  judgedPast: {
    ClockQuarantine: replaceMethods(ClockQuarantine, (original, { maxClockSkewMs }) => {
      let wallMs = 0;
      return {
        advance: (nowMs, atMs) => {
          wallMs = atMs;
          original.advance(nowMs, atMs);
        },
        acceptsStampsFrom: (_peer, stamp) => stamp / MICROS_PER_MS - wallMs <= maxClockSkewMs,
      };
    }),
  },

  oneSiteIsEnough: {
    BluePath: replaceMethods(BluePath, (original) => ({
      get ownProgress() {
        const { applied } = original.ownProgress;
        return { applied, durable: applied };
      },
    })),
  },

  arrivalOrder: {
    SiteState: replaceMethods(SiteState, (original) => {
      let arrivals = 0;
      return {
        getStamp: (operation) => {
          arrivals += 1;
          return { ...original.getStamp(operation), time: arrivals };
        },
      };
    }),
  },

  /** Takes records from the red log, and does not look at the gate for that. */
  sleepingGate: {
    RedPath: replaceMethods(RedPath, () => ({
      deliver: ({ order }, record) => order.deliver(record),
    })),
  },

  /** Lets a request wait for a slot, and does not look at the slots for that. */
  sleepingThrottle: {
    RedPath: replaceMethods(RedPath, ({ executions }) => {
      const begin = executions.begin.bind(executions);
      executions.begin = (request, outcome) => {
        const { isDue } = executions;
        begin(request, outcome);
        executions.isDue = isDue;
      };
      return {};
    }),
  },

  noSessions: {
    CoverageWaiters: replaceMethods(CoverageWaiters, () => ({ isCovered: () => true })),
  },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
