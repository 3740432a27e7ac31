/** Which views an operation delivers, by the levels that were requested. */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  REDBLUE_LEVELS,
  type RedBlueLevel,
} from '../../../protocol/redblue-levels.ts';
import type { SubmissionRequest } from '../../replica/core/submissions.ts';

type StagesByLevel = SubmissionRequest['wantedStages'];

/** The views that an operation delivers. */
export interface ViewPlan extends StagesByLevel {
  readonly strongest: RedBlueLevel;
}

/**
 * A read has no `tentative` level. If only that is requested, `causal` answers.
 */
function planRead(levels: readonly RedBlueLevel[]): StagesByLevel {
  const strong = levels.includes('strong');
  return {
    tentative: false,
    causal: levels.includes('causal') || !strong,
    strong,
  };
}

/**
 * A red update has no `causal` level. If that is the strongest requested level,
 * `strong` answers.
 */
function planWrite(levels: readonly RedBlueLevel[]): StagesByLevel {
  const strong = levels.some((level) => level !== 'tentative');
  return { tentative: levels.includes('tentative'), causal: false, strong };
}

/** The plans of reads and of updates, by the requested levels as bits. */
export const READ_PLANS: readonly ViewPlan[] = createPlans(planRead);

export const WRITE_PLANS: readonly ViewPlan[] = createPlans(planWrite);

function createPlans(
  stagesOf: (levels: readonly RedBlueLevel[]) => StagesByLevel,
): ViewPlan[] {
  return Array.from({ length: 1 << REDBLUE_LEVELS.length }, (_, bits) => {
    const levels = REDBLUE_LEVELS.filter(
      (_level, index) => (bits & (1 << index)) !== 0,
    );
    return {
      ...stagesOf(levels),
      strongest: levels.at(-1) ?? 'strong',
    };
  });
}

/** No plan has this bit. */
const UNKNOWN_BIT = 1 << REDBLUE_LEVELS.length;

/**
 * Returns `1 << REDBLUE_LEVELS.indexOf(level)`, without a search for each
 * operation.
 */
function getLevelBit(level: RedBlueLevel): number {
  switch (level) {
    case 'tentative':
      return 1;
    case 'causal':
      return 2;
    case 'strong':
      return 4;
    default:
      return UNKNOWN_BIT;
  }
}

export function getPlan(
  plans: readonly ViewPlan[],
  levels: readonly RedBlueLevel[],
): ViewPlan {
  let bits = 0;
  for (const level of levels) bits |= getLevelBit(level);
  const plan = plans[bits];
  if (plan !== undefined) return plan;
  const message = `levels: only ${REDBLUE_LEVELS.join(', ')} exist, not ${levels.join(', ')}.`;
  throw new CorrectableError('UNKNOWN_LEVEL', message, { field: 'levels' });
}
