/**
 * A site as a binding: levels `tentative` < `causal` < `strong`. Red updates have `tentative` and `strong`, reads
 * `causal` and `strong`; a blue update is committed at once and has one view, final at the strongest requested level.
 *
 * At one site a session costs nothing: what it answers at `causal` or `strong` is in its own snapshots from then on. What
 * a session saw at another site comes along as a signed token, and is waited for.
 */
import type { Binding, BindingSession, InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { parseArgs } from '../../protocol/contract.ts';
import type { ContractInfo } from '../../protocol/contract.ts';
import { operationId as operationIdOf } from './operation-id.ts';
import type { Origin, Stage, SubmissionRequest } from './replica-port.ts';
import type { Reply } from './reply.ts';
import { zeroVector } from './vector.ts';
import type { Vector } from './vector.ts';

/** The levels of the RedBlue backend, weakest first. */
export type RedBlueLevels = readonly ['tentative', 'causal', 'strong'];
/** One of them. */
export type RedBlueLevel = RedBlueLevels[number];

export const REDBLUE_LEVELS: RedBlueLevels = ['tentative', 'causal', 'strong'];

/** Gets what a site says about one submission. */
export interface Submitter {
  /** `seen` is what a session has seen with this view. */
  view(stage: Stage, reply: Reply, seen: Vector | undefined): void;
  failed(error: unknown, stage: Stage | undefined): void;
}

/** What a session has seen, in a form that leaves the deployment and comes back. */
export interface SessionTokens {
  /** A token that only this deployment can make. */
  seal(vector: Vector): string;
  /** What the token says. Throws `UNAUTHENTICATED` unless this deployment has made it. */
  open(token: string): Vector;
}

/** The part of a site that a binding needs. */
export interface SubmissionPort {
  readonly contract: ContractInfo;
  /** Index of the site in `sites`. */
  readonly site: number;
  readonly sites: readonly string[];
  readonly tokens: SessionTokens;
  submit(request: SubmissionRequest, submitter: Submitter): void;
  /** Fails what was submitted and is under way, and refuses what comes later; the site itself goes on. */
  closeSubmissions(): void;
}

/** A session as this deployment keeps it. */
class SiteSession implements BindingSession {
  readonly #tokens: SessionTokens;
  #seen: number[];
  #sealed: readonly string[] | undefined;

  constructor(tokens: SessionTokens, given: readonly string[], siteCount: number) {
    this.#tokens = tokens;
    this.#seen = zeroVector(siteCount);
    for (const token of given) this.merge(tokens.open(token));
  }

  /** What the session has seen so far. */
  get seen(): Vector {
    return this.#seen;
  }

  get tokens(): readonly string[] {
    return (this.#sealed ??= [this.#tokens.seal(this.#seen)]);
  }

  merge(vector: Vector): void {
    this.#sealed = undefined;
    this.#seen = this.#seen.map((stamp, entry) => Math.max(stamp, vector[entry] ?? 0));
  }
}

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
      const session = this.#sessionOf(context);
      const origin = effect === 'read' ? undefined : originOf(context, this.#site);
      const submission = { operation: name, args, origin, after: session?.seen, wants: plan };
      this.#site.submit(submission, new SinkSubmitter(sink as Sink<unknown, RedBlueLevel>, { plan, levels, session }));
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    return new SiteSession(this.#site.tokens, tokens, this.#site.sites.length);
  }

  #sessionOf({ session }: InvocationContext): SiteSession | undefined {
    if (session === undefined || session instanceof SiteSession) return session;
    const message = 'session: give one that openSession of a redblue binding has made.';
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'context.session' });
  }

  /** Closes this door to the site. The site goes on replicating, for the others' sake; the deployment stops it. */
  async close(): Promise<void> {
    this.#site.closeSubmissions();
  }
}

type Plan = SubmissionRequest['wants'];

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

interface Wanted {
  readonly plan: Plan;
  readonly levels: readonly RedBlueLevel[];
  readonly session: SiteSession | undefined;
}

/** Turns what the site says into views at the levels asked for. */
class SinkSubmitter implements Submitter {
  readonly #sink: Sink<unknown, RedBlueLevel>;
  readonly #plan: Plan;
  readonly #strongest: RedBlueLevel;
  readonly #session: SiteSession | undefined;

  constructor(sink: Sink<unknown, RedBlueLevel>, { plan, levels, session }: Wanted) {
    this.#sink = sink;
    this.#plan = plan;
    this.#strongest = levels.at(-1) ?? 'strong';
    this.#session = session;
  }

  view(stage: Stage, { value, meta }: Reply, seen: Vector | undefined): void {
    if (seen !== undefined) this.#session?.merge(seen);
    const details = meta === undefined ? undefined : { meta };
    if (stage === 'committed') this.#sink.update(value, this.#strongest, details);
    else if (this.#plan[stage]) this.#sink.update(value, stage, details);
  }

  failed(error: unknown, stage: Stage | undefined): void {
    if (stage === undefined || stage === 'committed') this.#sink.fail(error);
    else this.#sink.fail(error, stage);
  }
}

/** The identity under which the operation may be submitted again; without one it never is. */
function originOf({ origin, operationId }: InvocationContext, { site, sites }: SubmissionPort): Origin | undefined {
  if (origin === undefined) return operationId === undefined ? undefined : opaqueOrigin(operationId, site);
  const { client, sequence, acknowledged, home = sites[site], hop = 0 } = origin;
  requireField(typeof client === 'string' && client !== '', 'client', 'must be a non-empty string');
  requireField(Number.isSafeInteger(sequence) && sequence >= 1, 'sequence', 'must be a whole number from 1 on');
  requireField(Number.isSafeInteger(acknowledged) && acknowledged >= 0, 'acknowledged', 'must be a whole number');
  requireField(Number.isSafeInteger(hop) && hop >= 0, 'hop', 'must be a whole number from 0 on');
  const homeIndex = sites.indexOf(home ?? '');
  requireField(homeIndex >= 0, 'home', `must be one of ${sites.join(', ')}, not '${String(home)}'`);
  requireField(
    hop > 0 || homeIndex === site,
    'hop',
    `must count the moves from ${String(home)} to here, so at least 1`,
  );
  return { id: operationIdOf(client, sequence), home: homeIndex, hop, acknowledged };
}

function opaqueOrigin(name: unknown, site: number): Origin {
  if (typeof name !== 'string' || name === '') {
    const message = `operationId must be a non-empty string, not ${String(name)}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'context.operationId' });
  }
  return { id: operationIdOf(name, 1), home: site, hop: 0, acknowledged: 0 };
}

function requireField(holds: boolean, name: string, problem: string): void {
  if (holds) return;
  throw new CorrectableError('INVALID_ARGUMENT', `origin.${name} ${problem}.`, { field: `context.origin.${name}` });
}
