/**
 * A site as a binding: levels `tentative` < `causal` < `strong`. Red updates have `tentative` and `strong`, reads
 * `causal` and `strong`; a blue update is committed at once and has one view, final at the strongest requested level.
 *
 * At one site a session costs nothing: what it answers at `causal` or `strong` is in its own snapshots from then on.
 */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { parseArgs } from '../../protocol/contract.ts';
import type { ContractInfo } from '../../protocol/contract.ts';
import type { Stage, Submission } from './replica-port.ts';
import type { Reply } from './reply.ts';

/** The levels of the RedBlue backend, weakest first. */
export type RedBlueLevels = readonly ['tentative', 'causal', 'strong'];
/** One of them. */
export type RedBlueLevel = RedBlueLevels[number];

export const REDBLUE_LEVELS: RedBlueLevels = ['tentative', 'causal', 'strong'];

/** Gets what a site says about one submission. */
export interface Submitter {
  view(stage: Stage, reply: Reply): void;
  failed(error: CorrectableError, stage: Stage | undefined): void;
}

/** The part of a site that a binding needs. */
export interface SubmissionPort {
  readonly contract: ContractInfo;
  submit(submission: Omit<Submission, 'token' | 'seed'>, submitter: Submitter): void;
  /** Fails what was submitted and is under way, and refuses what comes later; the site itself goes on. */
  closeSubmissions(): void;
}

const SESSION: BindingSession = Object.freeze({});

/** The binding of one site. */
export class SiteBinding implements Binding<RedBlueLevels> {
  readonly name: string;
  readonly #site: SubmissionPort;

  constructor(siteName: string, site: SubmissionPort) {
    this.name = `redblue:${siteName}`;
    this.#site = site;
  }

  consistencyLevels(): RedBlueLevels {
    return REDBLUE_LEVELS;
  }

  supports(operation: Operation): boolean {
    return Object.hasOwn(this.#site.contract.operations, operation.name);
  }

  submitOperation<T>(
    operation: Operation<T>,
    levels: readonly RedBlueLevel[],
    sink: Sink<T, RedBlueLevel>,
    context: InvocationContext,
  ): void {
    try {
      const { name } = operation;
      const args = parseArgs(this.#site.contract, operation);
      const effect = this.#site.contract.operations[name]?.effect;
      const plan = effect === 'read' ? readPlan(levels) : updatePlan(levels);
      const submission = { operation: name, args, id: operationIdOf(context), wants: plan };
      this.#site.submit(submission, new SinkSubmitter(sink as Sink<unknown, RedBlueLevel>, plan, levels));
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(): BindingSession {
    return SESSION;
  }

  /** Closes this door to the site. The site goes on replicating, for the others' sake; the deployment stops it. */
  async close(): Promise<void> {
    this.#site.closeSubmissions();
  }
}

type Plan = Submission['wants'];

/** A read has no `tentative` level: where it is the only one asked for, `causal` answers. */
function readPlan(levels: readonly RedBlueLevel[]): Plan {
  const strong = levels.includes('strong');
  return { tentative: false, causal: levels.includes('causal') || !strong, strong };
}

/** A red update has no `causal` level: where it is the strongest asked for, `strong` answers. */
function updatePlan(levels: readonly RedBlueLevel[]): Plan {
  const strong = levels.some((level) => level !== 'tentative');
  return { tentative: levels.includes('tentative'), causal: false, strong };
}

/** Turns what the site says into views at the levels asked for. */
class SinkSubmitter implements Submitter {
  readonly #sink: Sink<unknown, RedBlueLevel>;
  readonly #plan: Plan;
  readonly #strongest: RedBlueLevel;

  constructor(sink: Sink<unknown, RedBlueLevel>, plan: Plan, levels: readonly RedBlueLevel[]) {
    this.#sink = sink;
    this.#plan = plan;
    this.#strongest = levels.at(-1) ?? 'strong';
  }

  view(stage: Stage, { value, meta }: Reply): void {
    const details = meta === undefined ? undefined : { meta };
    if (stage === 'committed') this.#sink.update(value, this.#strongest, details);
    else if (this.#plan[stage]) this.#sink.update(value, stage, details);
  }

  failed(error: CorrectableError, stage: Stage | undefined): void {
    if (stage === undefined || stage === 'committed') this.#sink.fail(error);
    else this.#sink.fail(error, stage);
  }
}

function operationIdOf(context: InvocationContext): string | undefined {
  const operationId: unknown = context.operationId;
  if (operationId === undefined || (typeof operationId === 'string' && operationId !== '')) return operationId;
  const message = `operationId must be a non-empty string, not ${String(operationId)}.`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'context.operationId' });
}
