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
  expect(Object.keys(sites.shared?.sections ?? {})).toEqual(['rows']);
  expect(sites.shared?.sections['rows']).toEqual(rows);
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
    sites.donor.disk.crash();
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
  const files = (): string[] =>
    sites.donor.disk.list('sites/ireland').filter((name) => name.endsWith('.checkpoint'));

  test('its file is replaced meanwhile → stays until the transfer has ended', () => {
    sites.receive();
    sites.run(10_000, () => kinds('transfer.slice') > 5);
    const [held] = files();
    sites.donor.storage.takeSnapshot((_, snapshot) => snapshot?.release(), { isFreshFile: true });
    sites.run(10, () => files().length > 1);
    expect(files()).toContain(held);
    sites.run();
    expectShared();
    expect(files()).not.toContain(held);
    expect(files()).toHaveLength(1);
  });

  test('a snapshot that is not read for its time → removed, and a later read fails with that cause', () => {
    sites.receive();
    sites.run(10_000, () => kinds('transfer.slice') > 5);
    sites.way = () => [];
    sites.run(2_000_000);
    sites.receiver?.close();
    sites.donor.storage.takeSnapshot((_, snapshot) => snapshot?.release(), { isFreshFile: true });
    sites.run(100);
    expect(files()).toHaveLength(1);
    sites.way = (message) => [message];
    sites.receive();
    sites.run();
    expectShared();
    expect(kinds('transfer.lost')).toBeGreaterThan(0);
  });

  test.each(['checkpoint', 'checkpoint-copy'])(
    'damaged in its .%s → is read of the other file',
    (ending) => {
      sites.receive();
      sites.run(10_000, () => kinds('transfer.ready') > 0);
      damage(`.${ending}`);
      sites.run();
      expectShared();
      expect(kinds('transfer.begin')).toBe(1);
    },
  );

  test('damaged in both files → another one is made in a new file', () => {
    sites.receive();
    sites.run(10_000, () => kinds('transfer.ready') > 0);
    damage('.checkpoint');
    damage('.checkpoint-copy');
    sites.run();
    expectShared();
    expect(kinds('transfer.begin')).toBe(2);
  });

  function damage(ending: string): void {
    const { disk } = sites.donor;
    const name = disk.list('sites/ireland').find((file) => file.endsWith(ending)) as string;
    const bytes = disk.read(`sites/ireland/${name}`);
    bytes[5000] = (bytes[5000] as number) ^ 1;
    disk.put(`sites/ireland/${name}`, bytes);
  }
});
