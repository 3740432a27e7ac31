/** The levels of one operation at run time: which a binding has, which were requested, how strong each is (C2). */
import { CorrectableError, invalidArgument } from './errors.ts';

/** The levels of a binding, weakest first, and those requested of one operation. */
export class Ladder {
  readonly all: readonly string[];
  readonly requested: readonly string[];
  /** Whether a level was requested, by rank. */
  readonly requestedAt: readonly boolean[];
  /** The rank of the strongest requested level: a view at this rank or above is final. */
  readonly strongest: number;
  /** Whose levels these are: joins count level by level only within one owner (C11). */
  readonly owner: object | undefined;

  constructor(all: readonly string[], requested: readonly string[], owner: object | undefined) {
    this.all = all;
    this.requested = requested;
    this.requestedAt = all.map((level) => requested.includes(level));
    this.strongest = all.indexOf(requested[requested.length - 1]!);
    this.owner = owner;
  }

  /** How strong `level` is, from 0; -1 for a name that the binding does not have. */
  rankOf(level: string): number {
    const { all } = this;
    for (let rank = 0; rank < all.length; rank++) if (all[rank] === level) return rank;
    return -1;
  }

  /** The strongest preliminary level that a fact of strength `rank` supports, if one was requested. */
  preliminaryAt(rank: number): string | undefined {
    for (let i = this.requested.length - 2; i >= 0; i--) {
      const level = this.requested[i]!;
      if (this.rankOf(level) <= rank) return level;
    }
    return undefined;
  }

  hasSameLevels(other: Ladder): boolean {
    return this.owner === other.owner && sameNames(this.all, other.all) && sameNames(this.requested, other.requested);
  }

  /** The ladder of the same binding for a request of `levels`, in whatever order they are given. */
  request(levels: readonly string[]): Ladder {
    if (!Array.isArray(levels) || levels.length === 0) {
      throw invalidArgument('levels', 'give at least one level, or leave it out for all');
    }
    for (const level of levels) this.requireLevel(level);
    const requested = this.all.filter((level) => levels.includes(level));
    return new Ladder(this.all, requested.length === this.all.length ? this.all : requested, this.owner);
  }

  /** Throws `UNKNOWN_LEVEL` for a level that the binding does not have. */
  requireLevel(level: string, field = 'levels'): void {
    if (this.all.includes(level)) return;
    throw new CorrectableError('UNKNOWN_LEVEL', `${field}: no level "${level}"; use one of ${this.all.join(', ')}`, {
      field,
      level,
    });
  }
}

/** The ladder for levels declared by a binding or an executor, all of them requested. */
export function declareLevels(levels: readonly string[], owner?: object): Ladder {
  const valid =
    Array.isArray(levels) &&
    levels.length > 0 &&
    levels.every((level, at) => typeof level === 'string' && level !== '' && levels.indexOf(level) === at);
  if (!valid) throw invalidArgument('levels', 'declare one or more different names, weakest first');
  const all = [...levels];
  return new Ladder(all, all, owner);
}

export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
