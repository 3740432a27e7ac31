/**
 * A donor sends the shared part of its state slice by slice; the receiver has all of it, or nothing
 * that counts.
 */
// @rule CLU-T1, CLU-T2, CLU-T3, CLU-T4
import { beforeEach, describe, expect, test } from 'vitest';
import type {
  TransferReply,
  TransferRequest,
} from '../../../../../src/server/node/transfer/transfer-messages.ts';
import { getRowKey } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import type { HeldCommit } from '../../../../../src/server/node/storage/rows/row-commits.ts';
import { SharedFrames } from '../../../../../src/server/node/transfer/shared-frames.ts';
import { TransferSites } from './transfer-sites.ts';

type Message = TransferReply | TransferRequest;
const isSlice = (message: Message): message is Extract<Message, { kind: 'transfer.slice' }> =>
  message.kind === 'transfer.slice';

let sites: TransferSites;
beforeEach(() => {
  sites = new TransferSites();
  for (let row = 0; row < 200; row += 1) sites.donor.put(`row ${row}`, `value ${row} `.repeat(10));
});

const kinds = (kind: Message['kind']): number =>
  sites.sent.filter((message) => message.kind === kind).length;

function expectShared(rows: ReadonlyMap<string, unknown> = sites.donor.rows): void {
  expect(Object.keys(sites.shared?.sections ?? {})).toEqual(['slots']);
  expect(sites.shared?.sections['slots']).toEqual(rows);
  expect(sites.shared?.smallParts).toEqual({
    log: { delivered: 7 },
    replica: {},
    count: rows.size,
    at: new Date(0),
  });
}

describe('a transfer', () => {
  test('a donor with rows of several checkpoints → its shared part, as it was at the last one', () => {
    sites.donor.storage.checkpoint();
    sites.run(100);
    sites.donor.put('row 3', undefined);
    sites.donor.put('row 4', 'other');
    sites.receive();
    sites.run();
    expectShared();
    expect(sites.problems).toEqual([]);
    const slices = sites.sent.filter((message) => isSlice(message) && message.bytes.length > 0);
    expect(slices).toHaveLength(Math.ceil((sites.progress.at(-1) as number) / 1000));
  });

  test('the donor goes on writing → the state of when it began, and the donor keeps its later ones', () => {
    sites.receive();
    sites.run(1000, () => kinds('transfer.slice') > 2);
    const before = new Map(sites.donor.rows);
    for (let round = 0; round < 20; round += 1) {
      sites.donor.put(`row ${round}`, `later ${round}`);
      sites.donor.storage.checkpoint();
      sites.run(2);
    }
    expect(sites.hasShared).toBe(false);
    sites.run();
    expectShared(before);
  });

  test('messages lost, repeated and out of order → all of it', () => {
    const { random } = sites;
    let held: Message[] = [];
    sites.way = (message) => {
      if (random.chance(0.2)) return [];
      if (random.chance(0.3)) return [message, message];
      if (random.chance(0.3)) return (held = [...held, message]).splice(0, held.length - 1);
      return [message, ...held.splice(0)];
    };
    sites.receive();
    sites.run(600_000, () => sites.hasShared);
    expectShared();
  });

  test('damaged slices → they are asked for again', () => {
    let damaged = 0;
    sites.way = (message) => {
      if (!isSlice(message) || damaged >= 10) return [message];
      damaged += 1;
      const bytes = Uint8Array.from(message.bytes);
      bytes[damaged] = (bytes[damaged] as number) ^ 1;
      return [{ ...message, bytes }];
    };
    sites.receive();
    sites.run(2000);
    expectShared();
  });

  test('a receiver that starts again → goes on where whole frames end', () => {
    for (let row = 0; row < 8; row += 1) sites.donor.put(`large ${row}`, 'x'.repeat(400_000));
    sites.receive();
    sites.run(10_000, () => (sites.progress.at(-1) ?? 0) > 2_000_000);
    sites.disk.crash();
    const asked = sites.sent.length;
    sites.receive();
    sites.run();
    expectShared();
    expect(kinds('transfer.begin')).toBe(1);
    const [first] = sites.sent.slice(asked) as [Extract<Message, { kind: 'transfer.read' }>];
    expect(first.offset).toBeGreaterThan(1_000_000);
  });

  test('a donor that starts again → reports that it has lost the snapshot, and another transfer is made', () => {
    sites.receive();
    sites.run(10_000, () => kinds('transfer.slice') > 5);
    sites.donor.crash();
    sites.donor.start();
    sites.donor.put('row 0', 'after');
    sites.run();
    expectShared();
    expect(kinds('transfer.begin')).toBe(2);
    expect(sites.problems).toEqual([
      'ireland has no such snapshot any more; another transfer is begun',
    ]);
  });

  test('a donor that cannot make a checkpoint → is asked again', () => {
    sites.donor.cutProblem = 'the red log has halted';
    sites.receive();
    sites.run(10_000);
    expect(sites.problems[0]).toBe('ireland cannot send its state now: the red log has halted');
    sites.donor.cutProblem = undefined;
    sites.run();
    expectShared();
  });

  test('the disk of the receiver is full for a while → it goes on', () => {
    sites.disk.isFull = true;
    sites.receive();
    sites.run(20_000);
    expect(sites.problems[0]).toContain('cannot be written');
    sites.disk.isFull = false;
    sites.run();
    expectShared();
  });
});

describe('the snapshot of a donor', () => {
  test('commits are made meanwhile → stays until the transfer has ended', () => {
    const held = watchSnapshots();
    sites.receive();
    sites.run(10_000, () => kinds('transfer.slice') > 5);
    sites.donor.storage.checkpoint();
    sites.run(10);
    expect(held.size).toBe(1);
    sites.run();
    expectShared();
    expect(held.size).toBe(0);
  });

  test('nothing is requested for 15 minutes → ends, and a later read fails with that cause', () => {
    const held = watchSnapshots();
    sites.receive();
    sites.run(10_000, () => kinds('transfer.slice') > 5);
    sites.way = () => [];
    sites.run(14 * 60_000);
    expect(held.size).toBe(1);
    sites.run(3 * 60_000);
    expect(held.size).toBe(0);
    sites.receiver?.close();
    sites.way = (message) => [message];
    sites.receive();
    sites.run();
    expectShared();
    expect(kinds('transfer.lost')).toBeGreaterThan(0);
    expect(held.size).toBe(0);
  });

  test.each<[string, () => void]>([
    ['the donor ends', () => sites.donor.source.close()],
    [
      'the receiver begins another transfer',
      () => sites.donor.source.receive('virginia', { kind: 'transfer.begin', transfer: 'other' }),
    ],
    [
      'the receiver needs it no more',
      () => sites.donor.source.receive('virginia', { kind: 'transfer.end', transfer: 'mine' }),
    ],
  ])('%s → no snapshot is held, whenever that is', (_, end) => {
    for (const afterMs of [0, 1, 2, 5, 1000]) {
      sites.donor.setSource();
      const held = watchSnapshots();
      sites.donor.source.receive('virginia', { kind: 'transfer.begin', transfer: 'mine' });
      sites.run(afterMs);
      end();
      sites.run(1000);
      sites.donor.source.close();
      sites.run(1000);
      expect(held.size).toBe(0);
    }
  });

  test('a row is damaged → the donor stops, and sends its state no more (ROW-10)', () => {
    sites.donor.storage.checkpoint();
    sites.run(100);
    sites.donor.rowDisk.flip(getRowKey('slots', 'row 150'), 77);
    sites.receive();
    sites.run();
    expect(sites.hasShared).toBe(false);
    expect(sites.donor.damage?.message).toMatch(/^the entry .* is damaged$/);
    expect(sites.problems[0]).toMatch(/ireland has no such snapshot any more/);
    expect(sites.problems[1]).toMatch(
      /^ireland cannot send its state now: the entry .* is damaged/,
    );
    expect(kinds('transfer.begin')).toBeLessThan(30);
  });

  /** Returns the snapshots that the donor holds from now on. */
  function watchSnapshots(): ReadonlySet<object> {
    const { storage } = sites.donor;
    const held = new Set<object>();
    sites.donor.setSource({
      takeSnapshot: (done) =>
        storage.takeSnapshot((error, commit) => {
          if (commit === undefined) return done(error);
          held.add(commit);
          const release = (): void => {
            held.delete(commit);
            commit.release();
          };
          done(undefined, { ...commit, release });
        }),
    });
    return held;
  }
});

describe('a donor with a fault', () => {
  /** Whether the receiver gets the shared part as it was when it asked. A commit is in flight. */
  function isSent(prepare: (inFlight: readonly HeldCommit[]) => void): boolean {
    const inFlight: HeldCommit[] = [];
    sites.donor.storage.takeSnapshot((_, commit) => inFlight.push(commit as HeldCommit));
    prepare(inFlight);
    sites.donor.put('row 0', 'before the request');
    sites.receive();
    sites.run();
    try {
      expectShared();
      return true;
    } catch {
      return false;
    }
  }

  test('none → not found', () => {
    expect(isSent(() => {})).toBe(true);
  });

  test('own-part-sent → found (ROW-9)', () => {
    class AllFrames extends SharedFrames {
      protected override isSent(): boolean {
        return true;
      }
    }
    expect(isSent(() => sites.donor.setSource(sites.donor.storage, AllFrames))).toBe(false);
  });

  test('snapshot-before-the-member → found (ROW-9)', () => {
    const prepare = (inFlight: readonly HeldCommit[]): void =>
      sites.donor.setSource({
        takeSnapshot: (done) => sites.timing.afterMs(50, () => done(undefined, inFlight[0])),
      });
    expect(isSent(prepare)).toBe(false);
  });
});
