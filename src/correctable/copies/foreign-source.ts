/**
 * Reads the source of a Correctable that any copy of the package made (COR-12). A library may bring
 * a copy of its own, which may be another version. So only the fields declared here may be read.
 */
import type { CorrectableError } from '../errors.ts';
import type { LevelOrder } from '../level-order.ts';
import type { PartExtras, SourcePart } from '../side-effects.ts';

/** The key of a Correctable's source, the same in all copies of the package. */
export const SOURCE: unique symbol = Symbol.for('correctables.source');

/** The source of a Correctable of any copy of the package. No version may rename these fields. */
export interface ForeignSource extends SourcePart {
  readonly levelOrder: LevelOrder;
  readonly environment: { readonly stats?: unknown };
  readonly extras: ForeignExtras | undefined;
}

interface ForeignExtras extends PartExtras {
  readonly error?: CorrectableError;
  readonly levelErrors?: Readonly<Record<string, unknown>>;
}

/** Returns the source of a Correctable, or `undefined` for anything else. */
export function getForeignSource(value: unknown): ForeignSource | undefined {
  return (value as { [SOURCE]?: ForeignSource } | null | undefined)?.[SOURCE];
}
