/**
 * The parts of a simulated site, which are all asked after each input, also those that are not due.
 * A part that has work and is not due has missed a wake-up: in production it would wait for ever,
 * or until something else wakes it. That shows in no history, so it is checked at each step.
 */
import { SiteParts, type Settling } from '../../server/site/core/site-part.ts';
import { ReadyBuilder } from '../../server/site/ready.ts';
import { PropertyViolation } from './checkers/checker.ts';

/** The number of outputs of all sites. Only one site runs at a time. */
let outputCount = 0;
/** The site that runs, and the virtual time. A part does not know them. */
let running = { site: '', nowMs: 0 };

/** An input of a site begins. */
export function noteRunning(site: string, nowMs: number): void {
  running = { site, nowMs };
}

/** Counts outputs, so that a part cannot put one out and report that it has done nothing. */
export class CountedReadyBuilder extends ReadyBuilder {
  override append(...args: Parameters<ReadyBuilder['append']>): void {
    outputCount += 1;
    super.append(...args);
  }

  override send(...args: Parameters<ReadyBuilder['send']>): void {
    outputCount += 1;
    super.send(...args);
  }

  override answer(...args: Parameters<ReadyBuilder['answer']>): void {
    outputCount += 1;
    super.answer(...args);
  }

  override propose(...args: Parameters<ReadyBuilder['propose']>): void {
    outputCount += 1;
    super.propose(...args);
  }

  override withdraw(...args: Parameters<ReadyBuilder['withdraw']>): void {
    outputCount += 1;
    super.withdraw(...args);
  }

  override report(...args: Parameters<ReadyBuilder['report']>): void {
    outputCount += 1;
    super.report(...args);
  }
}

const ADVICE = 'set isDue where it gets work (src/server/site/core/site-part.ts)';

export class AskedParts extends SiteParts {
  constructor(...[all, { moving, following }]: ConstructorParameters<typeof SiteParts>) {
    super(all, { moving: moving.map(askAlways), following: following.map(askAlways) });
  }
}

/** Returns a part that is always due, and fails if the real one has work and is not. */
function askAlways(part: Settling): Settling {
  return {
    isDue: true,
    settle: (hasMoved) => {
      if (part.isDue) return part.settle(hasMoved);
      const before = outputCount;
      const hasWorked = part.settle(hasMoved);
      if (!hasWorked && !part.isDue && outputCount === before) return false;
      throw new PropertyViolation(
        `${part.constructor.name} of site ${running.site} had work at ${Math.round(running.nowMs)} ms, and was not due: ${ADVICE}`,
        'due parts',
      );
    },
  };
}
