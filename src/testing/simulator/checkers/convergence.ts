/** Once everything has healed and arrived, all sites have the same state (RedBlue, OSDI 2012, Theorem 1). */
import { toText } from '../../../server/storage/format/values.ts';
import { require, type Checker, type FinalState } from './checker.ts';

export class ConvergenceChecker implements Checker {
  readonly name = 'convergence';

  finished({ sites }: FinalState): void {
    const [first, ...others] = sites.map(({ site, state }) => {
      return { site, found: toText([state.stable, state.store.snapshot()]) };
    });
    for (const { site, found } of others) {
      require(found === first?.found, () =>
        `site ${site} ends as\n${found}\nand site ${first?.site} as\n${first?.found}`);
    }
  }
}
