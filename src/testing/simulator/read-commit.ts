import { walkSaved, type SavedCommit } from '../../server/node/storage/rows/saved-walk.ts';
import { readSmallParts, ROWS_SECTION } from '../../server/node/storage/rows/saved-state.ts';
import type { Checkpoint, SectionRows } from '../../server/service/records/checkpoint.ts';

/** Reads a whole commit of a store of rows, as a site sends it to another one. */
export function readCommit({ cut, reader }: SavedCommit): Checkpoint {
  const sections: Record<string, SectionRows> = {};
  for (const name of [ROWS_SECTION, ...Object.keys(cut.listed)]) sections[name] = new Map();
  for (const { section, name, value } of walkSaved({ cut, reader }))
    sections[section]?.set(name, value);
  return { sections, smallParts: readSmallParts(reader) };
}
