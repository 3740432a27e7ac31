/** A commit has the sizes of all orders, so that a lost directory is noticed (ROW-10). */
import { describe, expect, test } from 'vitest';
import {
  getRowKey,
  readSection,
} from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { walkSaved } from '../../../../../../src/server/node/storage/rows/saved-walk.ts';
import { SavedSite } from './saved-site.ts';

describe('a commit', () => {
  test('has the sizes of all orders, also if nothing of them has changed', () => {
    const site = new SavedSite();
    const { cut } = site.commit();
    const walked = [...walkSaved(site.commit())].filter(({ next }) => next.order === 'keys');
    for (const [table, orders] of Object.entries(cut.tables)) {
      const keys = walked.filter(({ next }) => next.table === table && next.count === 1);
      expect(orders['keys']).toBe(keys.length);
    }
    expect(Object.keys(cut.tables['notes'] ?? {})).toEqual([
      'keys',
      'removals',
      'by.title',
      'by.tags',
    ]);
    expect(cut.listed).toEqual({ 'own.slots': site.listed.size });
  });

  test('fails if the names of a section were lost, and the next one has all of them', () => {
    const site = new SavedSite();
    site.disk.lose(getRowKey('names.own.slots', ''));
    site.commit();
    site.setListed('new', 'of new');
    expect(site.tryCommit()).toBeUndefined();
    expect(site.failures.map(({ message }) => message)).toEqual([
      "the order 'names' of 'own.slots' has 0 entries, and the last commit has 8",
    ]);
    const { cut, reader } = site.commit();
    expect(readSection(reader, 'own.slots', cut)).toEqual(site.listed);
  });
});
