/**
 * Checks that the service's invariants hold at every site after every operation (RedBlue, OSDI
 * 2012, Theorem 2).
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import { InvariantCheck, type BrokenInvariant } from '../../../server/site/core/invariant-check.ts';
import type { Service } from '../../../server/service/service.ts';
import type { SiteState } from '../../../server/site/core/site-state.ts';
import { assertProperty, type AnyOperation, type Checker, type GeneratorRun } from './checker.ts';

export class InvariantChecker implements Checker {
  readonly name = 'invariants';
  readonly #check: InvariantCheck;

  constructor(service: Service) {
    this.#check = new InvariantCheck(service);
  }

  onApplied(site: Origin, { id, effects }: AnyOperation, state: SiteState): void {
    const [row] = this.#check.findBrokenRows(effects, state);
    assertProperty(
      row === undefined,
      () =>
        `at site ${site}, after ${id}, row '${row?.key}' of ${row?.table} breaks "${row?.invariant}"${describeFailure(row)}`,
    );
    const [broken] = this.#check.findBrokenConditions(
      new Set(effects.map(({ table }) => table)),
      state,
    );
    assertProperty(
      broken === undefined,
      () =>
        `at site ${site}, after ${id}, all tables together break "${broken?.invariant}"${describeFailure(broken)}`,
    );
  }
}

/** Describes what a condition did instead of returning true. */
function describeFailure(broken: BrokenInvariant | undefined): string {
  return broken?.error === undefined ? '' : `, which ${broken.error}`;
}

/**
 * Checks that a generator throws only errors of its domain and returns only values that sites
 * accept. Anything else is a mistake of the author.
 */
export class GeneratorChecker implements Checker {
  readonly name = 'generators';
  readonly #thrown: () => string | undefined;

  /** `thrown` returns what the run that is checked has thrown, if it has. */
  constructor(thrown: () => string | undefined) {
    this.#thrown = thrown;
  }

  onGeneratorRun(
    site: Origin,
    { input: { operation }, outcome: { hasFailed, reason } }: GeneratorRun,
  ): void {
    assertProperty(!hasFailed, () => {
      const thrown = this.#thrown();
      if (thrown === undefined) return `${operation} at site ${site} fails: ${reason}`;
      return `the generator of '${operation}' threw at site ${site}: ${thrown}. What its arguments and tables hold cannot be changed in place; a no is an error of the domain (context.errors), or a result.`;
    });
  }
}
