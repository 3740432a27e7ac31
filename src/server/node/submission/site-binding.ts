/**
 * A site as a binding with the levels `tentative` < `causal` < `strong`. Red updates have
 * `tentative` and `strong`, reads have `causal` and `strong`. A blue update is committed at once.
 * It has one view, final at `causal`, whichever levels were requested, because it never becomes
 * more than that.
 *
 * A session costs nothing at one site: everything that the site answers at `causal` or `strong` is
 * in its snapshots from then on. What the session has seen at another site comes as a signed token,
 * and the operation waits for it.
 */
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Sink,
} from '../../../correctable/binding.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Operation } from '../../../correctable/operation.ts';
import {
  EncodingSink,
  CheckedOperation,
  type PreparingBinding,
} from '../../../protocol/hosting.ts';
import { copyForWire } from '../../../protocol/codec/portable-values.ts';
import { rememberDefaults } from './omit-defaults.ts';
import {
  ParsedOperation,
  createUnknownOperationError,
  findOperationHash,
  parseArgsOf,
  type RegisteredOperation,
} from '../../../contract/operation-registry.ts';
import {
  REDBLUE_LEVELS,
  type RedBlueLevel,
  type RedBlueLevels,
} from '../../../protocol/redblue-levels.ts';
import type { ContractInfo } from '../../../contract/contract.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { OperationPlan, OperationPlans } from '../../service/operation-plan.ts';
import { SiteSession, type SessionTokens } from './site-session.ts';
import { createIdentity } from './submission-identity.ts';
import {
  CopyingSubmitter,
  READ_PLANS,
  SinkSubmitter,
  WRITE_PLANS,
  getPlan,
  type Submitter,
} from './submitter.ts';

/** The part of a site that a binding needs. */
export interface SubmissionPort {
  readonly contract: ContractInfo;
  readonly plans: OperationPlans;
  readonly site: Origin;
  readonly origins: Origins;
  readonly tokens: SessionTokens;
  /** Why the site has stopped, if its storage has failed. */
  readonly failure?: CorrectableError | undefined;
  /** Why updates are refused for now, for example on a full disk. Reads are served. */
  readonly writeRefusal?: CorrectableError | undefined;
  submit(submission: Submitter): void;
  /** Applies at once what the submissions so far have led to, if the site collects them. */
  endTurn?(): void;
  /** Fails the submissions in flight that came through this handle. The site itself goes on. */
  endSubmissions(handle: object): void;
}

/** The plan of an operation that a gateway submits through this handle. */
class PreparedPlan {
  readonly handle: SiteBinding;
  readonly plan: OperationPlan;

  constructor(handle: SiteBinding, plan: OperationPlan) {
    this.handle = handle;
    this.plan = plan;
  }
}

/**
 * The binding of one site. A site has many such handles, and closing one closes only that. If a
 * gateway is its direct user, values come from the wire and go there. For other users in the
 * process it copies values, so that no user holds the site's own objects. That includes a user
 * between the site and a gateway.
 */
export class SiteBinding implements Binding<RedBlueLevels, true>, PreparingBinding {
  readonly name: string;
  readonly isExactlyOnce = true;
  readonly hasIdempotencyKeys = true;
  readonly #siteName: string;
  readonly #site: SubmissionPort;
  #isClosed = false;

  constructor(siteName: string, site: SubmissionPort) {
    this.name = `redblue:${siteName}`;
    this.#siteName = siteName;
    this.#site = site;
    for (const { args, access } of Object.values(site.contract.operations))
      if (access === 'write') rememberDefaults(args);
  }

  get failure(): CorrectableError | undefined {
    return this.#site.failure;
  }

  get writeRefusal(): CorrectableError | undefined {
    return this.#site.writeRefusal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  flush(): void {
    this.#site.endTurn?.();
  }

  openHandle(): SiteBinding {
    const handle = new SiteBinding(this.#siteName, this.#site);
    handle.#isClosed = this.#isClosed;
    return handle;
  }

  consistencyLevels(): RedBlueLevels {
    return REDBLUE_LEVELS;
  }

  supports(operation: Operation): boolean {
    return this.#findPrepared(operation) !== undefined || this.#site.plans.has(operation.name);
  }

  prepareOperation(name: string, registered: RegisteredOperation): object | undefined {
    const plan = this.#site.plans.get(name);
    const isSame = this.#site.contract.operations[name] === registered;
    return plan !== undefined && isSame ? new PreparedPlan(this, plan) : undefined;
  }

  operationHash(name: string): string | undefined {
    return findOperationHash(this.#site.contract, name);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly RedBlueLevel[],
    sink: Sink<T, RedBlueLevel>,
    context: InvocationContext,
  ): void {
    try {
      if (this.#isClosed) throw closedError(this.name);
      // A gateway directly over the site has checked the operation by the same contract, and
      // encodes at once what it receives.
      const prepared = EncodingSink.isEncodingSink(sink)
        ? this.#findPrepared(operation)
        : undefined;
      const plan = prepared ?? this.#getPlan(operation);
      const args = prepared === undefined ? this.#parseArgs(operation, plan) : operation.args;
      const wantedStages = getPlan(plan.isRead ? READ_PLANS : WRITE_PLANS, levels);
      const session = this.#getSession(context);
      const identity = plan.isRead
        ? undefined
        : createIdentity(context, operation, plan, this.#site);
      const Kind = prepared === undefined ? CopyingSubmitter : SinkSubmitter;
      const reported = sink as Sink<unknown, RedBlueLevel>;
      const input = { handle: this, context, plan, args, identity };
      this.#site.submit(new Kind(reported, wantedStages, session, input));
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    return new SiteSession(this.#site.tokens, tokens, this.#site.origins);
  }

  #findPrepared(operation: Operation): OperationPlan | undefined {
    const prepared = CheckedOperation.getPrepared(operation);
    return prepared instanceof PreparedPlan && prepared.handle === this ? prepared.plan : undefined;
  }

  #getPlan({ name }: Operation): OperationPlan {
    const { plans, contract } = this.#site;
    const plan = plans.get(name);
    if (plan === undefined) throw createUnknownOperationError(contract.name, name, plans.keys());
    return plan;
  }

  #parseArgs(operation: Operation, plan: OperationPlan): unknown {
    const { name, access } = operation;
    const args = copyForWire(ParsedOperation.getInput(operation), 'args');
    return parseArgsOf(plan, { name, access, args }, this.#site.contract);
  }

  #getSession({ session }: InvocationContext): SiteSession | undefined {
    if (session === undefined || session instanceof SiteSession) return session;
    const message = 'session: give one that openSession of a redblue binding has made.';
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.session',
    });
  }

  /**
   * Closes this handle on the site. The site and other handles go on. The deployment stops the
   * site.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#site.endSubmissions(this);
  }
}

function closedError(name: string): CorrectableError {
  const message = `This handle on ${name} is closed. Nothing was done: make a new client.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}
