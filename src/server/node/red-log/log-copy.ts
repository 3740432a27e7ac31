/**
 * Compares copies of a red log. Each generation of the log goes on from a copy of an earlier one. A
 * site follows a generation before it has all of that copy, so the generation that it follows does
 * not show how much it has. As in Raft, the generation of its last entry does.
 */

/** Identifies a copy of the log on a disk: its generation and its length. */
export interface LogCopy {
  /**
   * The generation of which it is a copy. Of two copies of one generation, the shorter one is a
   * prefix of the longer one.
   */
  readonly copy: number;
  readonly length: number;
  /**
   * The copy with which the leader began that generation. A copy that is not longer has nothing of
   * the generation itself. Absent for the first generation.
   */
  readonly begin?: LogCopy | undefined;
}

/**
 * Returns the generations of which this is a copy, latest first, each with the length up to which
 * it is one.
 */
function listGenerations({
  copy,
  length,
  begin,
}: LogCopy): readonly Pick<LogCopy, 'copy' | 'length'>[] {
  if (begin === undefined) return [{ copy, length }];
  const shared = Math.min(length, begin.length);
  return [{ copy, length }, ...listGenerations({ ...begin, length: shared })];
}

/** Returns the copy as one of the generation that its last entry is of. */
export function toEarliest({ copy, length, begin }: LogCopy): LogCopy {
  if (begin === undefined) return { copy, length };
  return length <= begin.length ? toEarliest({ ...begin, length }) : { copy, length, begin };
}

/**
 * Returns the number of entries that two copies are known to share; `undefined` if nothing is
 * known.
 */
export function countShared(a: LogCopy, b: LogCopy): number | undefined {
  const others = listGenerations(b);
  for (const { copy, length } of listGenerations(a)) {
    const other = others.find((item) => item.copy === copy);
    if (other !== undefined) return Math.min(length, other.length);
  }
  return undefined;
}

/** Returns whether a copy is a prefix of what a generation began with. */
export function isPrefix(copy: LogCopy, base: LogCopy | undefined): boolean {
  return base !== undefined && countShared(copy, base) === copy.length;
}

/**
 * Returns whether the copy `a` has more of the log. A later generation has more, however many
 * records the earlier one has: its records were taken over, or were not confirmed.
 */
export function isLonger(a: LogCopy, b: LogCopy): boolean {
  const [own, other] = [toEarliest(a), toEarliest(b)];
  return own.copy > other.copy || (own.copy === other.copy && own.length > other.length);
}
