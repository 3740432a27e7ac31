/**
 * A site as a binding: levels `tentative` < `causal` < `strong`. Red updates
 * have `tentative` and `strong`, reads `causal` and `strong`; a blue update is
 * committed at once and has one view, final at `causal`, whatever was asked
 * for: more than that it never becomes.
 *
 * At one site a session costs nothing: what it answers at `causal` or `strong`
 * is in its own snapshots from then on. What a session saw at another site
 * comes along as a signed token, and is waited for.
 */
import { createHash } from 'node:crypto';
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Principal,
  Sink,
  ViewDetails,
} from '../../correctable/binding.ts';
import {
  CorrectableError,
  isCorrectableError,
} from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { CheckedOperation } from '../../protocol/contract/checked-operation.ts';
import {
  ParsedOperation,
  findOperationHash,
  parseArgs,
} from '../../protocol/contract/operation-registry.ts';
import {
  omitDefaults,
  rememberDefaults,
} from '../../protocol/contract/omit-defaults.ts';
import type { ContractInfo } from '../../protocol/contract/contract.ts';
import {
  REDBLUE_LEVELS,
  type RedBlueLevel,
  type RedBlueLevels,
} from '../../protocol/redblue-levels.ts';
import { EncodingSink } from '../../protocol/codec/encoding-sink.ts';
import { copyForWire } from '../../protocol/codec/portable-values.ts';
import { isWellFormed } from '../../protocol/codec/tagged-values.ts';
import { freezeArgsCopy } from '../../values/deep-freeze.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';
import { MAX_CLIENT_LENGTH } from '../records/retention-limits.ts';
import {
  formatKeyedOperationId,
  KEYED,
  formatOperationId as operationIdOf,
} from '../records/operation-id.ts';
import type { Origin, Origins } from '../records/origin.ts';
import type {
  SubmissionIdentity,
  Stage,
  SubmissionRequest,
} from '../records/submissions.ts';
import type { Reply } from '../records/reply.ts';
import { isCovered, createZeroVector, type Vector } from '../records/vector.ts';

/**
 * One submission, and who gets what the site says about it: one object, since
 * one is made for each operation.
 */
export interface Submitter extends SubmissionRequest {
  /** Through which handle on the site it came. */
  readonly handle: object;
  readonly effect: Access;
  /**
   * Aborted when no caller wants the views any more. It is created when it is
   * first read.
   */
  readonly signal: AbortSignal;
  /**
   * When the caller gives up, in milliseconds since the epoch by the wall
   * clock.
   */
  readonly deadlineAt: number | undefined;
  /**
   * When the site has taken it, set by that, in milliseconds of the clock that
   * only runs forward.
   */
  acceptedAtMs?: number;
  /** `seen` is what a session has seen with this view. */
  onView(stage: Stage, reply: Reply, seen: Vector | undefined): void;
  onFailure(error: unknown, stage: Stage | undefined): void;
}

/**
 * What a session has seen, in a form that leaves the deployment and comes back.
 */
export interface SessionTokens {
  /** A token that only this deployment can make. */
  seal(vector: Vector): string;
  /**
   * What the token says. Throws `UNAUTHENTICATED` unless this deployment has
   * made it.
   */
  open(token: string): Vector;
}

/** The part of a site that a binding needs. */
export interface SubmissionPort {
  readonly contract: ContractInfo;
  readonly site: Origin;
  readonly origins: Origins;
  readonly tokens: SessionTokens;
  /** Why the site has stopped, where its storage has failed. */
  readonly failure?: CorrectableError | undefined;
  /** Why updates are refused for now, as on a full disk; reads are served. */
  readonly writeRefusal?: CorrectableError | undefined;
  submit(submission: Submitter): void;
  /** Does at once what the submissions so far lead to, if it collects them. */
  endTurn?(): void;
  /**
   * Fails what came through `door` and is in flight; the site itself goes on.
   */
  endSubmissions(door: object): void;
}

class SiteSession implements BindingSession {
  readonly #tokens: SessionTokens;
  #seen: number[];
  #sealed: readonly string[] | undefined;

  constructor(
    tokens: SessionTokens,
    value: readonly string[],
    origins: Origins,
  ) {
    this.#tokens = tokens;
    this.#seen = createZeroVector(origins);
    for (const token of value) this.merge(tokens.open(token));
    // One token says all that there is: it need not be made again until there
    // is more.
    if (value.length === 1) this.#sealed = value;
  }

  get seen(): Vector {
    return this.#seen;
  }

  get tokens(): readonly string[] {
    return (this.#sealed ??= [this.#tokens.seal(this.#seen)]);
  }

  merge(vector: Vector): void {
    if (isCovered(vector, this.#seen)) return;
    this.#sealed = undefined;
    const length = Math.max(this.#seen.length, vector.length);
    this.#seen = Array.from({ length }, (_, entry) =>
      Math.max(this.#seen[entry] ?? 0, vector[entry] ?? 0),
    );
  }
}

/**
 * The binding of one site, one handle of many: closing it closes this handle.
 * If a gateway is its direct user, values come from the wire and go there. For
 * other users in the process it copies values, so that no user holds the site's
 * own objects. That includes a user between the site and a gateway.
 */
export class SiteBinding implements Binding<RedBlueLevels, true> {
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
    return Object.hasOwn(this.#site.contract.operations, operation.name);
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
      const { name } = operation;
      // A gateway directly over the site has checked it by the same contract,
      // and writes down at once what it receives.
      const isHosted =
        EncodingSink.isEncodingSink(sink) &&
        CheckedOperation.isCheckedBy(this.#site.contract.operations, operation);
      const args = isHosted ? operation.args : this.#parseArgs(operation);
      const isRead = this.#site.contract.operations[name]?.access === 'read';
      const wants = getPlan(isRead ? READ_PLANS : WRITE_PLANS, levels);
      const session = this.#getSession(context);
      const identity = isRead
        ? undefined
        : createIdentity(context, operation, this.#site);
      const reported = sink as Sink<unknown, RedBlueLevel>;
      const Kind = isHosted ? SinkSubmitter : CopyingSubmitter;
      this.#site.submit(
        new Kind(reported, wants, session, {
          handle: this,
          context,
          operation: name,
          args,
          identity,
        }),
      );
    } catch (error) {
      sink.fail(error);
    }
  }

  openSession(tokens: readonly string[] = []): BindingSession {
    return new SiteSession(this.#site.tokens, tokens, this.#site.origins);
  }

  #parseArgs(operation: Operation): unknown {
    const { name, access } = operation;
    return parseArgs(this.#site.contract, {
      name,
      access,
      args: copyForWire(ParsedOperation.getInput(operation), 'args'),
    });
  }

  #getSession({ session }: InvocationContext): SiteSession | undefined {
    if (session === undefined || session instanceof SiteSession) return session;
    const message =
      'session: give one that openSession of a redblue binding has made.';
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.session',
    });
  }

  /**
   * Closes this handle on the site. The site goes on, and other handles do; the
   * deployment stops it.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#site.endSubmissions(this);
  }
}

type StagesByLevel = SubmissionRequest['wantedStages'];

/** Which views an operation delivers. */
interface ViewPlan extends StagesByLevel {
  readonly strongest: RedBlueLevel;
  readonly effect: Access;
}

/**
 * A read has no `tentative` level: where it is the only one asked for, `causal`
 * answers.
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
 * A red update has no `causal` level: where it is the strongest asked for,
 * `strong` answers.
 */
function planWrite(levels: readonly RedBlueLevel[]): StagesByLevel {
  const strong = levels.some((level) => level !== 'tentative');
  return { tentative: levels.includes('tentative'), causal: false, strong };
}

/** The plans of reads and of updates, by the levels asked for as bits. */
const READ_PLANS: readonly ViewPlan[] = createPlans('read', planRead);
const WRITE_PLANS: readonly ViewPlan[] = createPlans('write', planWrite);

function createPlans(
  effect: Access,
  stagesOf: (levels: readonly RedBlueLevel[]) => StagesByLevel,
): ViewPlan[] {
  return Array.from({ length: 1 << REDBLUE_LEVELS.length }, (_, bits) => {
    const levels = REDBLUE_LEVELS.filter(
      (_level, index) => (bits & (1 << index)) !== 0,
    );
    return {
      ...stagesOf(levels),
      strongest: levels.at(-1) ?? 'strong',
      effect,
    };
  });
}

/** No plan is for it. */
const UNKNOWN_BIT = 1 << REDBLUE_LEVELS.length;

/**
 * `1 << REDBLUE_LEVELS.findIndex(level)`, without a search for each operation.
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

function getPlan(
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

const FINAL_DETAILS: ViewDetails = { final: true };

interface SubmissionInput extends Pick<
  SubmissionRequest,
  'operation' | 'args' | 'identity'
> {
  readonly handle: object;
  readonly context: InvocationContext;
}

/** Turns what the site says into views at the levels asked for. */
class SinkSubmitter implements Submitter {
  readonly handle: object;
  readonly operation: string;
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
    plan: ViewPlan,
    session: SiteSession | undefined,
    requested: SubmissionInput,
  ) {
    this.handle = requested.handle;
    this.operation = requested.operation;
    this.args = requested.args;
    this.identity = requested.identity;
    this.sessionVector = session?.seen;
    this.wantedStages = plan;
    this.#context = requested.context;
    this.#sink = sink;
    this.#session = session;
  }

  get effect(): Access {
    return this.wantedStages.effect;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get deadlineAt(): number | undefined {
    return this.#context.deadlineAt;
  }

  /**
   * A copy for all runs of a generator, made by the first one that reads it.
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
      // It was not delivered: the failure that follows is.
      this.#isOver = false;
      throw error;
    }
  }

  onFailure(error: unknown, stage: Stage | undefined): void {
    if (this.#isOver) return;
    const isEnd = stage === undefined || stage === 'committed';
    // Where nothing but a guess was asked for and none could be had, the end
    // answers.
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
class CopyingSubmitter extends SinkSubmitter {
  override onFailure(error: unknown, stage: Stage | undefined): void {
    super.onFailure(
      isCorrectableError(error) ? copyError(error, this.operation) : error,
      stage,
    );
  }

  override onView(stage: Stage, reply: Reply, seen: Vector | undefined): void {
    let copy: Reply;
    try {
      copy = copyReply(reply);
    } catch (error) {
      this.onFailure(
        undeliveredError(this.effect, stage, error),
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
    // What the service refuses is not done, whether or not it can say why.
    const untold = `${message}: refused, but the details of its error cannot be sent`;
    return new CorrectableError('FINAL_FAILED', untold, {
      field: 'domain.data',
      cause,
    });
  }
}

function closedError(name: string): CorrectableError {
  const message = `This handle on ${name} is closed. Nothing was done: make a new client.`;
  return new CorrectableError('UNAVAILABLE', message, { retryable: false });
}

/**
 * Returns the failure of a submission whose site or connection ends before it:
 * an update has reached the site, and its result is unknown.
 */
export function interruptedError(
  effect: Access,
  reason: string,
  cause?: Error,
): CorrectableError {
  const message =
    effect === 'write'
      ? 'The write may take effect all the same.'
      : 'The read can be retried.';
  return new CorrectableError(
    effect === 'write' ? 'UNKNOWN' : 'UNAVAILABLE',
    `${reason}. ${message}`,
    { cause },
  );
}

/**
 * Returns the failure of a submission whose view could not be delivered. An
 * update stays done, as at a gateway. The failure is an ordinary one only for a
 * preview and for a read.
 */
export function undeliveredError(
  effect: Access,
  stage: Stage,
  cause: unknown,
): CorrectableError {
  const reason = isCorrectableError(cause)
    ? cause.message
    : 'it cannot be read, or its listener threw';
  if (effect === 'write' && stage !== 'tentative') {
    const message = `The write took effect, but its result cannot be sent: ${reason}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  return isCorrectableError(cause)
    ? cause
    : new CorrectableError(
        'FINAL_FAILED',
        `The result cannot be sent: ${reason}`,
        { cause },
      );
}

/**
 * The identity under which the operation may be submitted again; without one it
 * never is.
 */
function createIdentity(
  context: InvocationContext,
  operation: Operation,
  port: SubmissionPort,
): SubmissionIdentity | undefined {
  const { site, origins } = port;
  const { origin, idempotencyKey } = context;
  if (idempotencyKey !== undefined)
    return createKeyedIdentity(idempotencyKey, operation, port);
  if (origin === undefined) {
    const { operationId } = context;
    return operationId === undefined
      ? undefined
      : createOpaqueIdentity(operationId, site);
  }
  const { client, sequence, acknowledged, home, hop = 0 } = origin;
  const homeSite = home === undefined ? site : origins.findHome(home);
  // The messages are made when they are needed: this is done for every update.
  if (!isName(client))
    invalidIdentityError(
      'client',
      `must be a non-empty string of ${NAME_RULE}`,
    );
  if (client.startsWith(UNOWNED_PREFIX) || client.startsWith(KEYED)) {
    invalidIdentityError(
      'client',
      'must not begin with U+0000 or U+0001, as names of operations without one do',
    );
  }
  if (!isCount(sequence) || sequence < 1)
    invalidIdentityError('sequence', 'must be an integer from 1 on');
  if (!isCount(acknowledged))
    invalidIdentityError('acknowledged', 'must be an integer');
  if (!isCount(hop))
    invalidIdentityError('hop', 'must be an integer from 0 on');
  if (homeSite === undefined)
    invalidIdentityError(
      'home',
      `must be one of ${origins.names.join(', ')}, not '${String(home)}'`,
    );
  if (hop === 0 && homeSite !== site) {
    invalidIdentityError(
      'hop',
      `must count the moves from ${String(home)} to here, so at least 1`,
    );
  }
  return {
    id: operationIdOf(client, sequence),
    home: homeSite,
    hop,
    acknowledged,
  };
}

/**
 * Begins the names of operations that come without a client: a client of the
 * same name has operations of its own.
 */
const UNOWNED_PREFIX = '\u0000';

/**
 * Its home is the site that is asked: one that goes by this name at another
 * site is another operation.
 */
function createOpaqueIdentity(name: unknown, site: Origin): SubmissionIdentity {
  if (!isName(name)) {
    const value =
      typeof name === 'string' ? `one of ${name.length}` : String(name);
    const message = `operationId must be a non-empty string of ${NAME_RULE}, not ${value}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.operationId',
    });
  }
  return {
    id: operationIdOf(UNOWNED_PREFIX + name, 1),
    home: site,
    hop: 0,
    acknowledged: 0,
  };
}

/**
 * The length of a SHA-256 that is cut to a number: enough to distinguish the
 * uses of one key.
 */
const VARIANT_BYTES = 6;

/**
 * Its home is the same wherever it is asked for, since that follows from the
 * key: so it is executed once at all sites. It counts as moved, for another
 * site may have been asked for it before.
 */
function createKeyedIdentity(
  key: string,
  operation: Operation,
  { contract, origins: { sites, founderCount } }: SubmissionPort,
): SubmissionIdentity {
  const { args: schema } = contract.operations[operation.name]!;
  const given = omitDefaults(schema, ParsedOperation.getInput(operation));
  const args = toCanonicalString(given, { isLoose: true, maxParts: Infinity });
  if (!isName(key) || args === undefined) {
    const message = `idempotencyKey: give a non-empty string of ${NAME_RULE}, and arguments of at most 100 levels of plain data.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'context.idempotencyKey',
    });
  }
  const variant = 1 + hashText(`${operation.name} ${args}`);
  // Of the first sites alone, whose number never changes: else a site that
  // joins would move keys, which run once more then.
  const home = sites[hashText(key) % founderCount]!;
  return {
    id: formatKeyedOperationId(key, variant),
    home,
    hop: 1,
    acknowledged: 0,
  };
}

function hashText(text: string): number {
  return createHash('sha256')
    .update(text)
    .digest()
    .readUIntBE(0, VARIANT_BYTES);
}

const NAME_RULE = `whole characters, ${MAX_CLIENT_LENGTH} at most`;

function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_CLIENT_LENGTH &&
    isWellFormed(value)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalidIdentityError(name: string, problem: string): never {
  throw new CorrectableError('INVALID_ARGUMENT', `origin.${name} ${problem}.`, {
    field: `context.origin.${name}`,
  });
}
