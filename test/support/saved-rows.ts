/** Rows of a section as a checkpoint saves them, at once. */
import type { SavedRow, Section } from '../../src/server/service/records/checkpoint.ts';

/** Saves all rows. From now on the section notes changes. */
export function saveAll(section: Section): readonly SavedRow[] {
  section.changeAll();
  section.closeChanges();
  return section.takeClosed(Infinity);
}

/** Saves the rows that have changed since the last time, with `undefined` for those that are gone. */
export function saveChanges(section: Section): readonly SavedRow[] {
  section.closeChanges();
  return section.takeClosed(Infinity);
}
