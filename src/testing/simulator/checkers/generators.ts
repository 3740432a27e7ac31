/**
 * No generator throws anything but an error of its domain, nor gives what no site takes: a site answers such a call by a
 * failure and an alarm, so that it is a mistake of the author's, who is to be told.
 */
import type { Origin } from '../../../server/records/origin.ts';
import { require, type Checker, type GeneratorRun } from './checker.ts';

export class GeneratorChecker implements Checker {
  readonly name = 'generators';
  readonly #thrown: () => string | undefined;

  /** What the run that is looked at has thrown, if it has. */
  constructor(thrown: () => string | undefined) {
    this.#thrown = thrown;
  }

  ran(site: Origin, { input: { operation }, outcome: { failed, why } }: GeneratorRun): void {
    require(!failed, () => {
      const thrown = this.#thrown();
      if (thrown === undefined) return `${operation} at site ${site} fails: ${why}`;
      return `the generator of '${operation}' threw at site ${site}: ${thrown}. What its arguments and tables hold cannot be changed in place; a no is an error of the domain (context.errors), or a result.`;
    });
  }
}
