/** Once everything has healed and arrived, all sites have the same state (RedBlue, OSDI 2012, Theorem 1). */
import { require } from './checker.ts';
import type { Checker, FinalState } from './checker.ts';

export class ConvergenceChecker implements Checker {
  readonly name = 'convergence';

  finished({ sites }: FinalState): void {
    const [first, ...others] = sites.map((state) => JSON.stringify([state.stable, state.store.snapshot()]));
    for (const [index, other] of others.entries()) {
      require(other === first, () => `site ${index + 1} ends as\n${other}\nand site 0 as\n${first}`);
    }
  }
}
