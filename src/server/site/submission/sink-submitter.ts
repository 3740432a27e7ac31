/** Turns the answers of a site into views at the levels that were requested. */
import type {
  InvocationContext,
  Principal,
  Sink,
  ViewDetails,
} from '../../../correctable/binding.ts';
import {
  CorrectableError,
  isCorrectableError,
} from '../../../correctable/errors.ts';
import { copyForWire } from '../../../protocol/codec/portable-values.ts';
import type { RedBlueLevel } from '../../../protocol/redblue-levels.ts';
import { freezeArgsCopy } from '../../../values/deep-freeze.ts';
import type { Reply } from '../../records/reply.ts';
import type { SubmissionIdentity } from '../../replica/core/submissions.ts';
import type { Stage } from '../../records/replica-output.ts';
import type { Vector } from '../../records/vector.ts';
import type { OperationPlan } from '../../service/operation-plan.ts';
import type { SiteSession } from './site-session.ts';
import { undeliveredError } from './submission-errors.ts';
import type { Submitter } from './submitter.ts';
import type { ViewPlan } from './view-plans.ts';

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

  /**
   * A copy for all runs of a generator. The first run that reads it creates it.
   */
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

  #deliver(
    value: unknown,
    level: RedBlueLevel,
    meta: Reply['meta'],
    final: boolean,
  ): void {
    // If no stronger level was requested, the level alone shows that no view
    // follows.
    if (final && this.wantedStages.strongest === 'strong') {
      this.#sink.view(
        value,
        level,
        meta === undefined ? FINAL_DETAILS : { meta, final },
      );
    } else
      this.#sink.view(value, level, meta === undefined ? undefined : { meta });
  }

  /** Whether this stage is the last that is delivered. */
  protected isLastStage(stage: Stage): boolean {
    if (
      stage === 'committed' ||
      stage === 'strong' ||
      stage === this.wantedStages.strongest
    )
      return true;
    // A read at `tentative` alone is answered at `causal`.
    return stage === 'causal' && !this.wantedStages.strong;
  }

  /**
   * A caller that joins an always red operation gets no preview. If it
   * requested no more, the final view answers.
   */
  #isWanted(stage: Stage): boolean {
    return (
      stage === 'committed' || stage === 'strong' || this.wantedStages[stage]
    );
  }
}

/**
 * For callers in the same process: a site keeps replies and failures for
 * retries, so they are copied.
 */
export class CopyingSubmitter extends SinkSubmitter {
  override onFailure(error: unknown, stage: Stage | undefined): void {
    super.onFailure(
      isCorrectableError(error) ? copyError(error, this.plan.name) : error,
      stage,
    );
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

function copyError(
  error: CorrectableError,
  operation: string,
): CorrectableError {
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
    // The service refuses the operation, whether or not the details of its
    // error can be sent.
    const untold = `${message}: refused, but the details of its error cannot be sent`;
    return new CorrectableError('FINAL_FAILED', untold, {
      field: 'domain.data',
      cause,
    });
  }
}
