/** From a Correctable to its source, inside the library only. */
import type { Source } from './source.ts';

export const SOURCE: unique symbol = Symbol('source');

/** The source of a Correctable of this copy of the library; `undefined` for anything else. */
export function sourceOf<T = unknown>(value: unknown): Source<T> | undefined {
  return (value as { [SOURCE]?: Source<T> } | null | undefined)?.[SOURCE];
}
