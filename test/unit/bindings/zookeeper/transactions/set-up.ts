/**
 * A binding, a client of ZooKeeper beside it, and another client's writes in the middle of a
 * request.
 */
import { onTestFinished } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import {
  commit,
  readVersions,
  type BufferedWrite,
  type CommitResult,
  type Version,
  type VersionedValue,
} from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import type { Fault, Seen } from '../../../../support/zookeeper-server/server.ts';
import type { AskedUpdate } from '../../../../support/zookeeper-server/wire.ts';
import { open, type Shop } from '../set-up.ts';

export interface Setting extends Shop {
  readonly ensemble: FakeEnsemble;
  /** The session that preliminary views are read in. */
  readonly readerSession: bigint;
  /** Reads the keys with their versions, at the strongest level. */
  readonly read: (...keys: string[]) => Promise<readonly VersionedValue[]>;
  /** Commits at the strongest level; `reads` are pairs of key and version. */
  readonly commit: (
    reads: readonly [string, Version][],
    writes: Record<string, unknown>,
  ) => Promise<CommitResult>;
  /** Applies writes of another client, in one transaction, before whatever comes next. */
  readonly writeBetween: (...updates: Pick<AskedUpdate, 'type' | 'path'>[]) => void;
}

export function toNode(key: string): string {
  return `/correctables/keys/${key}`;
}

export function toWrites(writes: Record<string, unknown>): BufferedWrite[] {
  return Object.entries(writes).map(([key, value]) => ({ key, value }));
}

export async function setUp(): Promise<Setting> {
  const ensemble = await FakeEnsemble.start();
  const shop = open(ensemble, { sessionTimeoutMs: 1_000 });
  await shop.binding.whenConnected();
  const readerSession = [...ensemble.server.connections].at(-1)!.session;
  const other = new ZooKeeper(ensemble.connectString);
  await other.whenConnected();
  onTestFinished(async () => {
    await shop.client.close();
    await other.close();
    await ensemble.stop();
  });

  let cxid = 1_000;
  return {
    ...shop,
    ensemble,
    readerSession,
    read: (...keys) => Promise.resolve(shop.client.invokeStrong(readVersions(keys))),
    commit: (reads, writes) =>
      Promise.resolve(
        shop.client.invokeStrong(
          commit(
            reads.map(([key, version]) => ({ key, version })),
            toWrites(writes),
          ),
        ),
      ),
    writeBetween: (...updates) => {
      const data = new TextEncoder().encode('"other"');
      const rest = { data, version: -1, isSequential: false, isEphemeral: false };
      const proposal = { session: other.sessionId, cxid: cxid++, type: OP.multi };
      ensemble.leader.propose(
        { ...proposal, updates: updates.map((item) => ({ ...rest, ...item })) },
        ensemble.server,
      );
    },
  };
}

/** Answers the first request of a kind with `fault`, or does so at the moment when it comes. */
export function onFirst(
  { ensemble }: Setting,
  isWanted: (seen: Seen) => boolean,
  act: () => Fault | undefined | void,
): void {
  let hasCome = false;
  ensemble.server.onRequest = (seen) => {
    if (hasCome || !isWanted(seen)) return undefined;
    hasCome = true;
    return act() ?? undefined;
  };
}

export function countRequests({ ensemble }: Setting, type: number): number {
  return ensemble.server.requests.filter((seen) => seen.type === type).length;
}
