/**
 * A submission at a site, from the levels that a client requests to the views that it gets. Several
 * submitters are notified in a row, and entries are stored between. So an error that a submitter
 * throws must fail only its own submission.
 */
import type {
  InvocationContext,
  Principal,
  Sink,
  ViewDetails,
} from '../../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { copyForWire } from '../../../protocol/codec/portable-values.ts';
import { REDBLUE_LEVELS, type RedBlueLevel } from '../../../protocol/redblue-levels.ts';
import { freezeArgsCopy } from '../../../values/deep-freeze.ts';
import type { Stage, ViewAnswer } from '../../site/answer.ts';
import type { Reply } from '../../service/records/reply.ts';
import type { Vector } from '../../service/records/vector.ts';
import type { Submission, SubmissionIdentity, WantedStages } from '../../site/core/submissions.ts';
import type { OperationPlan } from '../../service/operation-plan.ts';
import type { SiteSession } from './site-session.ts';
import { undeliveredError } from './submission-errors.ts';

/**
 * A submission with the callbacks that receive its answers. They are one object, since one is
 * created for each operation. The site sets the fields that can be written, when it takes the
 * submission.
 */
export interface Submitter extends Submission {
  serial: number;
  seed: number;
  submittedAtMs: number;
  hasExpired?: boolean;
  /** The handle on the site through which it came. */
  readonly handle: object;
  /** Aborted when no caller wants the views any more. It is created when it is first read. */
  readonly signal: AbortSignal;
  /** When the caller gives up, in milliseconds since the epoch by the wall clock. */
  readonly deadlineAt: number | undefined;
  /** In milliseconds of the clock that only runs forward. */
  acceptedAtMs?: number;
  /** `seen` is what a session has seen with this view. */
  onView(stage: Stage, reply: Reply, seen: Vector | undefined): void;
  onFailure(error: unknown, stage: Stage | undefined): void;
}

type DeliveredView = Omit<ViewAnswer, 'kind' | 'serial'>;

/**
 * Delivers a view. If that throws, the submission fails at this level, or as a whole if it was the
 * last one.
 */
export function deliverView(
  submitter: Submitter,
  { stage, reply, seen, isLast }: DeliveredView,
): void {
  try {
    submitter.onView(stage, reply, seen);
  } catch (error) {
    deliverFailure(
      submitter,
      undeliveredError(submitter.plan.access, stage, error),
      isLast ? undefined : stage,
    );
  }
}

/** Delivers a failure of one level, or of the operation. */
export function deliverFailure(
  submitter: Submitter,
  error: unknown,
  stage: Stage | undefined,
): void {
  try {
    submitter.onFailure(error, stage);
  } catch {
    // A submitter that throws here cannot be notified. Its callers give up at the deadline.
  }
}

/** The views that an operation delivers. */
export interface ViewPlan extends WantedStages {
  readonly strongest: RedBlueLevel;
}

/** A read has no `tentative` level. If only that is requested, `causal` answers. */
function planRead(levels: readonly RedBlueLevel[]): WantedStages {
  const strong = levels.includes('strong');
  return {
    tentative: false,
    causal: levels.includes('causal') || !strong,
    strong,
  };
}

/**
 * A red update has no `causal` level. If that is the strongest requested level, `strong` answers.
 */
function planWrite(levels: readonly RedBlueLevel[]): WantedStages {
  const strong = levels.some((level) => level !== 'tentative');
  return { tentative: levels.includes('tentative'), causal: false, strong };
}

/** The plans of reads and of updates, by the requested levels as bits. */
export const READ_PLANS: readonly ViewPlan[] = createPlans(planRead);

export const WRITE_PLANS: readonly ViewPlan[] = createPlans(planWrite);

function createPlans(stagesOf: (levels: readonly RedBlueLevel[]) => WantedStages): ViewPlan[] {
  return Array.from({ length: 1 << REDBLUE_LEVELS.length }, (_, bits) => {
    const levels = REDBLUE_LEVELS.filter((_level, index) => (bits & (1 << index)) !== 0);
    return {
      ...stagesOf(levels),
      strongest: levels.at(-1) ?? 'strong',
    };
  });
}

/** No plan has this bit. */
const UNKNOWN_BIT = 1 << REDBLUE_LEVELS.length;

/** Returns `1 << REDBLUE_LEVELS.indexOf(level)`, without a search for each operation. */
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

export function getPlan(plans: readonly ViewPlan[], levels: readonly RedBlueLevel[]): ViewPlan {
  let bits = 0;
  for (const level of levels) bits |= getLevelBit(level);
  const plan = plans[bits];
  if (plan !== undefined) return plan;
  const message = `levels: only ${REDBLUE_LEVELS.join(', ')} exist, not ${levels.join(', ')}.`;
  throw new CorrectableError('UNKNOWN_LEVEL', message, { field: 'levels' });
}

const FINAL_DETAILS: ViewDetails = { final: true };

interface SubmissionInput {
  readonly plan: OperationPlan;
  readonly args: unknown;
  readonly identity: SubmissionIdentity | undefined;
  readonly handle: object;
  readonly context: InvocationContext;
}

/** Turns the answers of a site into views at the requested levels. */
export class SinkSubmitter implements Submitter {
  readonly handle: object;
  readonly plan: OperationPlan;
  readonly args: unknown;
  readonly identity: SubmissionIdentity | undefined;
  readonly sessionVector: Vector | undefined;
  readonly wantedStages: ViewPlan;
  serial = 0;
  seed = 0;
  submittedAtMs = 0;
  acceptedAtMs = 0;
  readonly #context: InvocationContext;
  readonly #sink: Sink<unknown, RedBlueLevel>;
  readonly #session: SiteSession | undefined;
  #principal: Principal | undefined;
  /** Whether all requested views were delivered. */
  #isOver = false;

  constructor(
    sink: Sink<unknown, RedBlueLevel>,
    wantedStages: ViewPlan,
    session: SiteSession | undefined,
    requested: SubmissionInput,
  ) {
    this.handle = requested.handle;
    this.plan = requested.plan;
    this.args = requested.args;
    this.identity = requested.identity;
    this.sessionVector = session?.seen;
    this.wantedStages = wantedStages;
    this.#context = requested.context;
    this.#sink = sink;
    this.#session = session;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get deadlineAt(): number | undefined {
    return this.#context.deadlineAt;
  }

  /** A copy for all runs of a generator. The first run that reads it creates it. */
  get principal(): Principal | undefined {
    return (this.#principal ??= freezeArgsCopy(this.#context.principal));
  }

  onView(stage: Stage, { value, meta }: Reply, seen: Vector | undefined): void {
    if (seen !== undefined) this.#session?.merge(seen);
    if (this.#isOver || !this.#isWanted(stage)) return;
    const final = stage === 'committed';
    this.#isOver = final || stage === this.wantedStages.strongest;
    try {
      this.#deliver(value, final ? 'causal' : stage, meta, final);
    } catch (error) {
      // The view was not delivered. The failure that follows is delivered.
      this.#isOver = false;
      throw error;
    }
  }

  onFailure(error: unknown, stage: Stage | undefined): void {
    if (this.#isOver) return;
    const isEnd = stage === undefined || stage === 'committed';
    // If only a preview was requested and there was none, the end is delivered.
    if (!isEnd && !this.wantedStages.strong) return;
    this.#isOver = isEnd || stage === this.wantedStages.strongest;
    if (isEnd) this.#sink.fail(error);
    else this.#sink.fail(error, stage);
  }

  #deliver(value: unknown, level: RedBlueLevel, meta: Reply['meta'], final: boolean): void {
    // If no stronger level was requested, the level alone shows that no view follows.
    if (final && this.wantedStages.strongest === 'strong') {
      this.#sink.view(value, level, meta === undefined ? FINAL_DETAILS : { meta, final });
    } else this.#sink.view(value, level, meta === undefined ? undefined : { meta });
  }

  /** Whether this stage is the last that is delivered. */
  protected isLastStage(stage: Stage): boolean {
    if (stage === 'committed' || stage === 'strong' || stage === this.wantedStages.strongest)
      return true;
    // A read at `tentative` alone is answered at `causal`.
    return stage === 'causal' && !this.wantedStages.strong;
  }

  /**
   * A caller that joins an always red operation gets no preview. If it requested no more, the final
   * view answers.
   */
  #isWanted(stage: Stage): boolean {
    return stage === 'committed' || stage === 'strong' || this.wantedStages[stage];
  }
}

/**
 * For callers in the same process: a site keeps replies and failures for retries, so they are
 * copied.
 */
export class CopyingSubmitter extends SinkSubmitter {
  override onFailure(error: unknown, stage: Stage | undefined): void {
    super.onFailure(isCorrectableError(error) ? copyError(error, this.plan.name) : error, stage);
  }

  override onView(stage: Stage, reply: Reply, seen: Vector | undefined): void {
    let copy: Reply;
    try {
      copy = copyReply(reply);
    } catch (error) {
      this.onFailure(
        undeliveredError(this.plan.access, stage, error),
        this.isLastStage(stage) ? undefined : stage,
      );
      return;
    }
    super.onView(stage, copy, seen);
  }
}

function copyReply({ value, meta }: Reply): Reply {
  const copy = { value: copyForWire(value, 'result') };
  return meta === undefined
    ? copy
    : {
        ...copy,
        meta: copyForWire(meta, 'meta') as Readonly<Record<string, unknown>>,
      };
}

function copyError(error: CorrectableError, operation: string): CorrectableError {
  const { code, message, domain } = error;
  if (domain === undefined) return new CorrectableError(code, message, error);
  try {
    const copy = {
      name: domain.name,
      data: copyForWire(domain.data, 'domain.data'),
      operation,
    };
    return new CorrectableError(code, message, {
      ...error,
      cause: error.cause,
      domain: copy,
    });
  } catch (cause) {
    // The service refuses the operation, whether or not the details of its error can be sent.
    const untold = `${message}: refused, but the details of its error cannot be sent`;
    return new CorrectableError('FINAL_FAILED', untold, {
      field: 'domain.data',
      cause,
    });
  }
}
