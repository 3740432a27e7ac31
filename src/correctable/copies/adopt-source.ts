/**
 * Follows Correctables of other copies of the package (COR-12) through their public methods. The
 * rest of the source of such a Correctable may differ from ours, as it may be of another version.
 */
import type { Correctable } from '../correctable.ts';
import { getForeignSource } from './foreign-source.ts';
import { defaultEnvironment } from '../environment.ts';
import type { Levels } from '../level-types.ts';
import { addPart } from '../side-effects.ts';
import { addCleanUp, failWith, Source } from '../source.ts';

/**
 * Returns the source of a Correctable. If another copy of the package made it, returns a source
 * that follows it. Returns `undefined` for anything else.
 */
export function adoptSource<T>(value: unknown): Source<T> | undefined {
  const original = getForeignSource(value);
  if (!original || original instanceof Source) return original;
  const source = new Source<T>(original.levelOrder, defaultEnvironment, {
    isRefining: true,
  });
  addPart(source, original);
  // Cancels a branch instead of the original, which may have other consumers.
  const branch = (value as Correctable<T, Levels, string>).map((item) => item);
  branch.subscribe({
    next: ({ value: item, level, final }) => source.view(item, level, { final }),
    error: (error) => failWith(source, error),
  });
  addCleanUp(source, () => branch.cancel(source.extras?.abandonReason?.cause));
  return source;
}
