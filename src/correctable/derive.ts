/** Sources made from other sources: they observe these and inherit the duty to report a failure (C5). */
import { Source } from './source.ts';

/** A derived source may repeat a level, and knows how long the operation may take. */
export function derive<T, U>(source: Source<T>): Source<U> {
  const derived = new Source<U>(source.ladder, source.environment, {
    refining: true,
    isOlder: source.options?.isOlder,
  });
  if (source.deadlineAt !== undefined) derived.more().deadlineAt = source.deadlineAt;
  source.observed = true;
  return derived;
}
