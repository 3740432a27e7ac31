/** The table of identifiers: entries leave only behind a watermark. */
import { describe, expect, test } from 'vitest';
import { EXPIRED, IdTable } from '../../../../../src/server/replica/once/id-table.ts';
import type { IdTableLimits } from '../../../../../src/server/records/bounds.ts';

describe('id table', () => {
  test('watermark moved → what is at or below it has expired, the rest stays', () => {
    const table = new IdTable<string>();
    for (const sequence of [1, 2, 3]) table.set(`c/${sequence}`, 'done');
    expect(table.expire('c', 2)).toBe(true);
    expect([1, 2, 3].map((sequence) => table.get(`c/${sequence}`))).toEqual([EXPIRED, EXPIRED, 'done']);
    expect(table.size).toBe(1);
  });

  test('set below the watermark → stays expired', () => {
    const table = new IdTable<string>();
    table.set('c/2', 'done');
    table.expire('c', 2);
    table.set('c/1', 'late');
    expect([table.get('c/1'), table.size]).toEqual([EXPIRED, 0]);
  });

  test('watermark moved back, or of a client never heard of → changes nothing', () => {
    const table = new IdTable<string>();
    table.set('c/1', 'done');
    expect([table.expire('c', 1), table.expire('c', 1), table.expire('d', 5)]).toEqual([true, false, false]);
    expect(table.get('d/1')).toBeUndefined();
  });

  test('more than operationsMax → the oldest leaves behind a watermark, never as if it were new', () => {
    const table = new IdTable<number>({ operationsMax: 3, clientsMax: 10 });
    for (let sequence = 1; sequence <= 10; sequence += 1) table.set(`c/${sequence}`, sequence);
    expect(table.size).toBe(3);
    const found = Array.from({ length: 10 }, (_, index) => table.get(`c/${index + 1}`));
    expect(found).toEqual([...Array.from({ length: 7 }, () => EXPIRED), 8, 9, 10]);
  });

  test('operations that come in another order than their numbers → bounded all the same', () => {
    const table = new IdTable<number>({ operationsMax: 4, clientsMax: 10 });
    for (let round = 0; round < 50; round += 1) {
      for (const sequence of [3, 1, 2]) table.set(`c/${round * 3 + sequence}`, sequence);
    }
    expect(table.size).toBeLessThanOrEqual(4);
    expect(table.get('c/1')).toBe(EXPIRED);
  });

  test('many clients that come once and acknowledge → a bounded number is remembered', () => {
    const table = new IdTable<number>({ operationsMax: 100, clientsMax: 10 });
    for (let client = 0; client < 200; client += 1) {
      table.set(`c${client}/1`, 1);
      table.expire(`c${client}`, 1);
    }
    const remembered = Array.from({ length: 200 }, (_, client) => table.get(`c${client}/1`)).filter(Boolean);
    expect(remembered.length).toBeLessThanOrEqual(20);
    expect(table.get('c199/1')).toBe(EXPIRED);
  });

  test('more clients than clientsMax → who has acknowledged since it was looked at stays, the others are forgotten', () => {
    const table = new IdTable<number>({ operationsMax: 100, clientsMax: 3 });
    const come = (client: string): void => {
      table.set(`${client}/1`, 1);
      table.expire(client, 1);
    };
    for (const client of ['a', 'b', 'c', 'd']) come(client);
    // The first of them made room; the others have been looked at.
    expect([table.get('a/1'), table.get('b/1')]).toEqual([undefined, EXPIRED]);
    table.expire('b', 2);
    come('e');
    expect([table.get('b/1'), table.get('c/1')]).toEqual([EXPIRED, undefined]);
  });
});

describe('what one client may take', () => {
  const codec = { save: (value: string) => value, load: (saved: unknown) => saved as string, bytesOf: byLength };

  test('more operations than it may have → its own oldest go, those of others stay', () => {
    const table = new IdTable<number>({ operationsMax: 6, perClientMax: 3, clientsMax: 10 });
    table.set('slow/1', 1);
    for (let sequence = 1; sequence <= 20; sequence += 1) table.set(`busy/${sequence}`, sequence);
    expect([table.get('slow/1'), table.get('busy/17'), table.get('busy/18'), table.size]).toEqual([1, EXPIRED, 18, 4]);
  });

  test('full for it → said before one more costs it another, and not once it has acknowledged', () => {
    const table = new IdTable<number>({ operationsMax: 6, perClientMax: 2, clientsMax: 10 });
    table.set('a/1', 1);
    expect(table.isFullFor('a')).toBe(false);
    table.set('a/2', 2);
    expect([table.isFullFor('a'), table.isFullFor('b')]).toEqual([true, false]);
    table.expire('a', 1);
    expect(table.isFullFor('a')).toBe(false);
  });

  test('of those that are coming, and of what has been acknowledged since → as full as it will be', () => {
    const limits = { operationsMax: 20, perClientMax: 3, clientsMax: 10, clientBytesMax: 8 };
    const table = new IdTable<string>(limits, codec);
    expect([2, 3].map((coming) => table.isFullFor('a', { coming }))).toEqual([false, true]);
    for (const sequence of [1, 3]) table.set(`a/${sequence}`, 'x');
    expect([0, 1].map((coming) => table.isFullFor('a', { coming }))).toEqual([false, true]);
    table.set('a/4', 'x');
    expect([0, 1, 2, 3].map((acknowledged) => table.isFullFor('a', { acknowledged }))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect([2, 3].map((acknowledged) => table.isFullFor('a', { acknowledged, coming: 1 }))).toEqual([true, false]);
    table.set('a/4', 'x'.repeat(8));
    expect([0, 3, 4].map((acknowledged) => table.isFullFor('a', { acknowledged }))).toEqual([true, true, false]);
  });

  test('large values → as many bytes as a client may take, and as all may, the latest always', () => {
    const limits = { operationsMax: 100, clientsMax: 10, clientBytesMax: 10, bytesMax: 15 };
    const table = new IdTable<string>(limits, codec);
    table.set('a/1', 'x'.repeat(6));
    table.set('a/2', 'x'.repeat(6));
    expect([table.get('a/1'), table.bytes]).toEqual([EXPIRED, 6]);
    table.set('b/1', 'x'.repeat(9));
    expect([table.get('a/2'), table.bytes]).toEqual(['xxxxxx', 15]);
    table.set('c/1', 'x');
    expect([table.get('a/2'), table.get('b/1') === EXPIRED, table.bytes]).toEqual([EXPIRED, false, 10]);
    table.set('c/2', 'x'.repeat(100));
    expect([table.get('c/2'), table.size, table.bytes]).toEqual(['x'.repeat(100), 1, 100]);
  });

  test('very many names of one principal → its own oldest go, those of others stay; also after a restart', () => {
    const limits = { operationsMax: 20, perClientMax: 5, perPrincipalMax: 8, clientsMax: 100 };
    let table = new IdTable<number>(limits);
    table.set('bob/b/1', 1);
    const visit = (from: number, to: number): void => {
      for (let n = from; n <= to; n += 1) table.set(`eve/e${n}/1`, n);
    };
    visit(1, 10);
    const known = (): boolean[] => [2, 3, 10].map((n) => table.get(`eve/e${n}/1`) === n);
    expect([known(), table.size]).toEqual([[false, true, true], 9]);
    table = restarted(table, limits);
    visit(11, 40);
    expect([table.get('eve/e32/1'), table.get('eve/e33/1'), table.get('bob/b/1'), table.size]).toEqual([
      EXPIRED,
      33,
      1,
      9,
    ]);
    expect(table.get('eve/e1/1')).toBe(EXPIRED);
  });

  test('large values of one principal → as many bytes as it may take, whatever its clients are called', () => {
    const limits = { operationsMax: 100, clientsMax: 100, clientBytesMax: 10, principalBytesMax: 15, bytesMax: 40 };
    const table = new IdTable<string>(limits, codec);
    table.set('bob/b/1', 'x'.repeat(9));
    for (let n = 1; n <= 20; n += 1) table.set(`eve/e${n}/1`, 'x'.repeat(9));
    expect([table.get('bob/b/1') === 'x'.repeat(9), table.get('eve/e19/1'), table.bytes]).toEqual([true, EXPIRED, 18]);
    table.expire('eve/e20', 1);
    expect(table.bytes).toBe(9);
  });

  test('large values of one principal that were acknowledged → count no more against it', () => {
    const table = new IdTable<string>({ operationsMax: 100, clientsMax: 100, principalBytesMax: 15 }, codec);
    for (let n = 1; n <= 20; n += 1) {
      table.set(`eve/e/${n}`, 'x'.repeat(9));
      table.expire('eve/e', n);
    }
    for (const id of ['eve/e/21', 'eve/f/1']) table.set(id, 'x'.repeat(6));
    expect([table.get('eve/e/21'), table.bytes]).toEqual(['xxxxxx', 12]);
  });

  test('names that do not say whose they are → each for itself', () => {
    const table = new IdTable<number>({ operationsMax: 20, perPrincipalMax: 2, clientsMax: 100 });
    for (const client of ['a', 'b', 'c', '/d', '/e', '/f']) table.set(`${client}/1`, 1);
    expect(table.size).toBe(6);
  });

  test('acknowledged as they come → nothing piles up behind one that is not', () => {
    const table = new IdTable<number>({ operationsMax: 20, perPrincipalMax: 5, clientsMax: 100 });
    table.set('eve/slow/1', 1);
    for (let sequence = 1; sequence <= 1_000; sequence += 1) {
      table.set(`eve/busy/${sequence}`, sequence);
      table.expire('eve/busy', sequence);
    }
    expect([table.get('eve/slow/1'), table.size]).toEqual([1, 1]);
  });

  test('a value that is written anew → counted once', () => {
    const table = new IdTable<string>({ operationsMax: 100, clientsMax: 10 }, codec);
    table.set('a/1', 'xxx');
    table.set('a/1', 'xxxxx');
    expect(table.bytes).toBe(5);
    table.expire('a', 1);
    expect(table.bytes).toBe(0);
  });
});

test('acknowledged after a checkpoint → the next one says so: after a restart it is expired still', () => {
  const limits = { operationsMax: 100, clientsMax: 10 };
  const table = new IdTable<number>(limits);
  const saved = Object.entries(table.sections('ids')).map(([name, section]) => {
    return { name, section, rows: new Map<string, unknown>() };
  });
  const save = (): void => {
    for (const { section, rows } of saved) {
      for (const [key, row] of section.takeChanges(Infinity)) {
        if (row === undefined) rows.delete(key);
        else rows.set(key, row);
      }
    }
  };
  table.set('a/1', 7);
  table.set('a/2', 8);
  for (const { section } of saved) section.changeAll();
  save();
  table.expire('a', 1);
  save();
  const again = new IdTable<number>(limits);
  for (const { name, rows } of saved) again.sections('ids')[name]?.restore(rows);
  expect([again.get('a/1'), again.get('a/2')]).toEqual([EXPIRED, 8]);
});

/** The same table, as a checkpoint has it. */
function restarted(table: IdTable<number>, limits: IdTableLimits): IdTable<number> {
  const again = new IdTable<number>(limits);
  for (const [name, section] of Object.entries(table.sections('ids'))) {
    section.changeAll();
    const rows = section.takeChanges(Infinity).filter(([, value]) => value !== undefined);
    again.sections('ids')[name]?.restore(new Map(rows));
  }
  return again;
}

function byLength(value: string): number {
  return value.length;
}
