/** Parts of the log on etcd that each break one rule. */
import { EtcdLog } from '../../src/server/log/etcd/etcd-log.ts';
import { EtcdProposer } from '../../src/server/log/etcd/etcd-proposer.ts';
import { EtcdReader } from '../../src/server/log/etcd/etcd-reader.ts';
import { EtcdTrimmer } from '../../src/server/log/etcd/etcd-trimmer.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** The last revision that the owner of a copy has heard of. */
const REVISIONS = new WeakMap<object, number>();

/** By name. */
export const BUGGY_ETCD_LOGS = {
  /** All starts of a site have one number, and go on counting where the log of the site ends. */
  endlessNumbers: {
    EtcdProposer: replaceArguments(EtcdProposer, (options) => [
      options,
      1,
      options.copy.progress.get(options.site)?.next ?? 1,
    ]),
  },

  /** Sends a group before the one before it is stored. */
  hasty: {
    EtcdProposer: replaceMethods(EtcdProposer, () => ({ maxUnstored: 2 })),
  },

  /** Knows the starts of a site beside each other. */
  everyStart: {
    EtcdLog: replaceMethods(EtcdLog, (original) => {
      const next = new Map<string, number>();
      return {
        getExpected: (name) => {
          const { site, start, last } = name;
          const key = `${site}/${start}`;
          const expected = original.getExpected(name);
          const known = expected === 'void' ? (next.get(key) ?? 1) : expected;
          next.set(key, Math.max(known, last + 1));
          return known;
        },
      };
    }),
  },

  /** Takes what a start that has ended had on its way, whatever it was. */
  lenient: {
    EtcdLog: replaceMethods(EtcdLog, (original) => ({
      getExpected: (name) => {
        const expected = original.getExpected(name);
        return expected === 'void' ? name.last : expected;
      },
    })),
  },

  blind: {
    EtcdLog: replaceMethods(EtcdLog, () => ({ checkDigest: () => true, checkPlace: () => true })),
  },

  /** Asks no site what it has. */
  unconfirmed: { EtcdLog: replaceMethods(EtcdLog, () => ({ hasAll: () => true })) },

  /** Writes at which revision it is, in the place of how much it has taken. */
  revisions: {
    EtcdLog: replaceMethods(EtcdLog, (original) => ({
      onReply: (reply, nowMs) => {
        if ('revision' in reply) REVISIONS.set(original.copy, reply.revision);
        original.onReply(reply, nowMs);
      },
    })),
    EtcdProposer: replaceMethods(EtcdProposer, (_, { copy }) => ({
      get position() {
        return REVISIONS.get(copy) ?? 0;
      },
    })),
  },

  unsynced: {
    EtcdLog: replaceMethods(EtcdLog, (original) => ({
      takeOutputs: () => {
        original.onSynced(original.copy.length);
        return original.takeOutputs();
      },
    })),
  },

  /** Trims what others lack, and goes on behind what it lacks itself. */
  gapless: {
    EtcdTrimmer: replaceMethods(EtcdTrimmer, (original) => ({ getLeast: () => original.own })),
    EtcdReader: replaceMethods(EtcdReader, () => ({ isBehind: () => false })),
    EtcdLog: replaceMethods(EtcdLog, () => ({ isGap: () => false, checkPlace: () => true })),
  },

  /** Has the keys of the log of `main`, whichever log it is. */
  mainKeys: {
    EtcdLog: replaceArguments(EtcdLog, (options, ...others) => [
      { ...options, partition: 0 },
      ...others,
    ]),
  },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
