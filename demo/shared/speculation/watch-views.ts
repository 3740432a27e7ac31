/** Reports the views of references to a watch. */
import type { Correctable, Levels } from 'correctables';
import type { Watch } from './application.ts';

/** Reports every view to `watch`, and returns the Correctable. */
export function watched<C extends Correctable<readonly string[], Levels, string>>(
  references: C,
  watch: Watch,
): C {
  references
    .onUpdate((ids) => watch.references(ids, false))
    .onFinal((ids) => watch.references(ids, true));
  return references;
}
