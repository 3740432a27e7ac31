/** Encodes the view that gateways of one site share, as big-endian doubles. */
import type { SiteView } from '../../causal/partition-calls.ts';

const VIEW_FORMAT = 2;
/** A view ends with so many numbers of each partition. */
export const NUMBERS_OF_PARTITION = 3;
const DOUBLE_BYTES = 8;

export function encodeView(view: SiteView): Buffer {
  const { stable, siteTime, lastSeen, healedAt, healedTo } = view;
  const numbers = [VIEW_FORMAT, siteTime, ...stable, ...lastSeen, ...healedAt, ...healedTo];
  const bytes = Buffer.allocUnsafe(numbers.length * DOUBLE_BYTES);
  for (const [at, value] of numbers.entries()) bytes.writeDoubleBE(value, at * DOUBLE_BYTES);
  return bytes;
}

export interface ViewSizes {
  readonly siteCount: number;
  readonly partitionCount: number;
}

/**
 * Returns `undefined` for bytes of another format or of other sizes.
 *
 * @param age microseconds since the view was written, by the clock of its Redis
 */
export function decodeView(
  bytes: Buffer,
  age: number,
  { siteCount, partitionCount }: ViewSizes,
): SiteView | undefined {
  const count = bytes.length / DOUBLE_BYTES;
  if (count !== 2 + siteCount + NUMBERS_OF_PARTITION * partitionCount) return undefined;
  const numbers = Array.from({ length: count }, (_, at) => bytes.readDoubleBE(at * DOUBLE_BYTES));
  const [format, siteTime = 0, ...others] = numbers;
  if (format !== VIEW_FORMAT) return undefined;
  const ofPartitions = (index: number): readonly number[] => {
    const from = siteCount + index * partitionCount;
    return others.slice(from, from + partitionCount);
  };
  return {
    siteTime: siteTime + age,
    stable: others.slice(0, siteCount),
    lastSeen: ofPartitions(0),
    healedAt: ofPartitions(1),
    healedTo: ofPartitions(2),
  };
}
