/** The service's invariants hold at every site after every operation (RedBlue, OSDI 2012, Theorem 2). */
import type { Origin } from '../../../server/records/origin.ts';
import { InvariantCheck } from '../../../server/replica/core/invariants.ts';
import type { Service } from '../../../server/service/service.ts';
import type { SiteState } from '../../../server/replica/core/site-state.ts';
import { require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';

export class InvariantChecker implements Checker {
  readonly name = 'invariants';
  readonly #check: InvariantCheck;

  constructor(service: Service) {
    this.#check = new InvariantCheck(service);
  }

  applied(site: Origin, { id, effects }: AnyOperation, state: SiteState): void {
    const [broken] = this.#check.brokenBy(effects, state);
    require(broken === undefined, () =>
      `at site ${site}, after ${id}, row '${broken?.key}' of ${broken?.table} breaks "${broken?.invariant}"`);
  }
}
