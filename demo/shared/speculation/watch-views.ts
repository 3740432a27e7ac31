/** Telling a watch of the views of references. */
import type { Correctable, Levels } from 'correctables';
import type { Watch } from './application.ts';

/** Tells `watch` of every view, and gives the Correctable back. */
export function watched<C extends Correctable<readonly string[], Levels, string>>(references: C, watch: Watch): C {
  references.onUpdate((ids) => watch.references(ids, false)).onFinal((ids) => watch.references(ids, true));
  return references;
}
