/** All checkers of a run, told of what happens in their order. */
import type { Origin } from '../../../server/records/origin.ts';
import type { Checker } from './checker.ts';

export class Checkers {
  /** What is being checked, as whoever hears of a fault is told. */
  checking = '';
  readonly #all: readonly Checker[];
  readonly #hearers = new Map<keyof Checker, readonly Checker[]>();

  constructor(all: readonly Checker[]) {
    this.#all = all;
  }

  /** Tells those that hear of such a thing at all: most things concern few of them. */
  tell(notice: keyof Checker, tell: (checker: Checker) => void): void {
    for (const checker of this.#hearersOf(notice)) {
      this.checking = checker.name;
      tell(checker);
    }
  }

  /** What each has noted of a site, by its name. */
  save(site: Origin): ReadonlyMap<string, unknown> {
    return new Map(this.#all.map((checker) => [checker.name, checker.save?.(site)]));
  }

  #hearersOf(notice: keyof Checker): readonly Checker[] {
    let hearers = this.#hearers.get(notice);
    if (hearers === undefined) {
      hearers = this.#all.filter((checker) => checker[notice] !== undefined);
      this.#hearers.set(notice, hearers);
    }
    return hearers;
  }
}
