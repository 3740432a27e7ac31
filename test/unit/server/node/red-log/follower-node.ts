/** A node that follows the generations of the red logs, without a site. */
import { onTestFinished } from 'vitest';
import type { NamedEntries } from '../../../../../src/server/node/red-log/named-entries.ts';
import {
  RedFollower,
  type FollowedLog,
} from '../../../../../src/server/node/red-log/red-follower.ts';
import type {
  RedGeneration,
  StoredGeneration,
} from '../../../../../src/server/node/red-log/red-generation.ts';

/** A node with as many entries of each log; restarted on what it has written down. */
export class FollowerNode {
  stored: StoredGeneration;
  lengths: readonly number[];
  /** What it has that names entries of a log, by its ordinal. */
  named: readonly NamedEntries[] = [];
  /** The logs in which it has no vote yet. */
  withoutVote: readonly number[] = [];
  starts = 0;
  stops = 0;
  caughtUp: string[] = [];
  /** The log that it followed at the last transfer. */
  to: FollowedLog | undefined;
  failures: string[] = [];
  isRunning = false;
  isTransferring = false;
  /** What peers answer. */
  peers: Record<string, RedGeneration> = {};
  /** Whether the process ends before the state is there. */
  isKilledInTransfer = false;
  startError: Error | undefined;
  /** Why its disk has no room, or cannot be written. */
  diskError: Error | undefined;
  hasReserved = false;
  /** What it has reported of being sealed. */
  sealed: string[] = [];
  /** What a stop waits for. */
  whenDrained: Promise<void> = Promise.resolve();
  follower!: RedFollower;

  constructor(
    lengths: number | readonly number[],
    stored: StoredGeneration = { generation: 0, leader: 'ireland' },
  ) {
    this.lengths = typeof lengths === 'number' ? [lengths] : lengths;
    this.stored = stored;
    this.restart();
  }

  restart(): void {
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    this.isRunning = false;
    const { stored } = this;
    // oxlint-disable-next-line typescript/no-this-alias
    const node = this;
    this.follower = new RedFollower(
      stored,
      {
        get isRunning() {
          return node.isRunning;
        },
        get isTransferring() {
          return node.isTransferring;
        },
        save: (red) => {
          if (this.diskError !== undefined) throw this.diskError;
          this.stored = structuredClone(red);
        },
        reserveRoom: () => {
          if (this.diskError !== undefined) throw this.diskError;
          this.hasReserved = true;
        },
        releaseRoom: () => (this.hasReserved = false),
        onSealed: (message, isLasting) =>
          this.sealed.push(`${isLasting ? 'alarm' : 'log'}: ${message}`),
        start: async () => {
          if (this.startError !== undefined) throw this.startError;
          this.starts += 1;
          this.isRunning = true;
        },
        stop: async () => {
          this.stops += 1;
          await this.whenDrained;
          this.isRunning = false;
        },
        waitForOpening: async () => {},
        onFailed: ({ message }) => this.failures.push(message),
        countEntries: async () => this.lengths,
        findLogsWithoutVote: () => this.withoutVote,
        findNamed: async (partition) => this.named[partition] ?? { stamp: 0, holds: [] },
        catchUp: async (message, to, onCopied) => {
          this.caughtUp.push(message);
          this.to = to;
          this.isRunning = false;
          if (this.isKilledInTransfer) return new Promise(() => {});
          this.lengths = this.lengths.map(() => 0);
          onCopied();
          this.starts += 1;
          this.isRunning = true;
        },
        getConnectedPeers: () => Object.keys(this.peers),
        request: async (peer) => this.peers[peer],
      },
      controller.signal,
    );
  }

  answer(kind: string, body: unknown): unknown {
    return this.follower.answer(kind, body);
  }
}

/** Sends requests to nodes, as a command of an operator does. */
export const requestOf =
  (nodes: Readonly<Record<string, FollowerNode>>) =>
  async (site: string, kind: string, body: unknown): Promise<unknown> =>
    structuredClone(await nodes[site]!.answer(kind, body));
