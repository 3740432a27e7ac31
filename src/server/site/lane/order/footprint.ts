/** What operations touch in one partition, and whether two of them overlap. */
import type { Effect } from '../../../service/records/effect.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import type { ExecutionName } from '../../../service/records/records.ts';
import { isRangeChanged, SEPARATOR, toTableName } from '../../../service/generator/read-set.ts';

/** What an operation reads, and what it writes in one partition. */
export interface Footprint {
  readonly reads: ReadonlySet<string>;
  readonly ranges: readonly ReadRange[];
  readonly writes: ReadonlySet<string>;
  readonly effects: readonly Effect[];
  readonly created: ReadonlySet<string>;
}

/** A hold of the index. */
export interface IndexedHold {
  readonly execution: ExecutionName;
  readonly footprint: Footprint;
  /** The number of holds that came before. */
  readonly order: number;
}

/** Returns something that the first one reads and the second one writes. */
export function findReadName(
  { reads, ranges }: Pick<Footprint, 'reads' | 'ranges'>,
  { writes, effects, created }: Footprint,
): string | undefined {
  for (const name of writes) if (reads.has(name)) return name;
  const range = ranges.find((item) =>
    effects.some((effect) => isRangeChanged(item, effect, created)),
  );
  return range && toTableName(range.table);
}

/** Two new rows of one table write its name, and do not overlap by that. */
export function findWrittenName(a: Footprint, b: Footprint): string | undefined {
  for (const name of a.writes) if (name.includes(SEPARATOR) && b.writes.has(name)) return name;
  return undefined;
}
