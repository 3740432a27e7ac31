/** The table of identifiers: entries leave only behind a watermark. */
import { describe, expect, test } from 'vitest';
import { IdTable } from '../../../../../../src/server/site/parts/lookups/id-table.ts';
import { saveAll } from '../../../../../support/saved-rows.ts';

// @rule STO-7
test('an operation comes again while its removal is being saved → the checkpoint has the removal', () => {
  const table = new IdTable<number>({
    maxOperations: 10,
    maxOperationsPerClient: 10,
    maxClients: 1,
  });
  const { ids: section, 'ids.clients': clients } = table.sections('ids');
  table.set('a/1', 1);
  for (const part of [section, clients]) saveAll(part!);
  table.expire('a', 1);
  section!.closeChanges();
  // The table forgets the client, so that the same operation counts as new.
  table.set('b/1', 1);
  table.set('a/1', 2);
  expect(section!.takeClosed(10)).toEqual([['a/1', undefined]]);
});

describe('the share of one client', () => {
  const codec = {
    save: (value: string) => value,
    load: (saved: unknown) => saved as string,
    measure: byLength,
  };

  test('full for a client → reported before one more would remove another of its operations, and not after it has acknowledged', () => {
    const table = new IdTable<number>({
      maxOperations: 6,
      maxOperationsPerClient: 2,
      maxClients: 10,
    });
    table.set('a/1', 1);
    expect(table.isFullFor('a')).toBe(false);
    table.set('a/2', 2);
    expect([table.isFullFor('a'), table.isFullFor('b')]).toEqual([true, false]);
    table.expire('a', 1);
    expect(table.isFullFor('a')).toBe(false);
  });

  test('of those that are coming, and of what has been acknowledged since → as full as it will be', () => {
    const limits = {
      maxOperations: 20,
      maxOperationsPerClient: 3,
      maxClients: 10,
      maxBytesPerClient: 8,
    };
    const table = new IdTable<string>(limits, codec);
    expect([2, 3].map((pendingCount) => table.isFullFor('a', { pendingCount }))).toEqual([
      false,
      true,
    ]);
    for (const sequence of [1, 3]) table.set(`a/${sequence}`, 'x');
    expect([0, 1].map((pendingCount) => table.isFullFor('a', { pendingCount }))).toEqual([
      false,
      true,
    ]);
    table.set('a/4', 'x');
    expect([0, 1, 2, 3].map((acknowledged) => table.isFullFor('a', { acknowledged }))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(
      [2, 3].map((acknowledged) => table.isFullFor('a', { acknowledged, pendingCount: 1 })),
    ).toEqual([true, false]);
    table.set('a/4', 'x'.repeat(8));
    expect([0, 3, 4].map((acknowledged) => table.isFullFor('a', { acknowledged }))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

function byLength(value: string): number {
  return value.length;
}
