/**
 * Runs the service again without the replica. Every generator run is repeated on a plain model that
 * holds the state that the site showed at that moment. Every red operation is repeated at its place
 * in the red order, on all red operations before it and the blue ones of its snapshot. Effects,
 * replies and final states must agree. The model counts operations, like the checkers of causal
 * order. So it relies neither on vectors nor on what certification compares.
 */
import type { Origin, Origins } from '../../../server/service/records/origin.ts';
import type { DomainErrorInfo } from '../../../correctable/errors.ts';
import { formatValue } from '../../../server/check/values/format-values.ts';
import type { Effect } from '../../../server/service/records/effect.ts';
import type { RedOperation } from '../../../server/service/records/records.ts';
import type { Reply } from '../../../server/service/records/reply.ts';
import { getOperationPlans } from '../../../server/service/operation-plan.ts';
import type { Partitions } from '../../../server/service/partitions.ts';
import type { Service } from '../../../server/service/service.ts';
import type { SiteState } from '../../../server/site/core/site-state.ts';
import { encodeValue } from '../../../server/node/storage/format/value-text.ts';
import type { Counts, ModelOperation } from '../oracle/model-operation.ts';
import { PartitionOrder } from '../oracle/partition-order.ts';
import { describeDifference } from '../oracle/describe-difference.ts';
import {
  describeOutcome,
  execute,
  createPreliminary,
  isSame,
  createReplyAt,
  type Outcome,
  type RunInput,
} from '../oracle/execute.ts';
import { Model, ModelView } from '../oracle/model.ts';
import { isSameSentList, isSameReply, isSameSent, toSentEffects } from '../oracle/compare-sent.ts';
import {
  CountingChecker,
  getExecutionName,
  getListOf,
  isRed,
  assertProperty,
  setCount,
  type AnyOperation,
  type FinalState,
  type GeneratorRun,
  type ClientDomainError,
  type ClientView,
  type SubmissionEvent,
} from './checker.ts';
import type { TracedService } from '../traced-service.ts';
import { isBackendError } from './submission-replies.ts';
import { isSiteOperation } from './low-watermarks.ts';

const STATE_ADVICE =
  'what a service knows belongs into its tables: what a variable beside them holds is lost when a site restarts, and differs at each site';
export const PURITY_ADVICE = `a generator takes time, randomness and identifiers from its context alone, and ${STATE_ADVICE}`;

/** A generator run at a site, with the outcome that the model had too. */
interface OracleRun {
  readonly input: RunInput;
  readonly seen: Counts;
  readonly outcome: Outcome;
  readonly isAlone?: boolean;
}

interface PlacedOperation {
  readonly id: string;
  readonly effects: readonly Effect[];
  readonly model: ModelOperation;
  /** The reply that a caller gets. Absent if the `reply` of its shadow operation throws. */
  readonly reply: Reply | undefined;
  /** The domain error that a caller gets instead of a reply. */
  readonly domainError: DomainErrorInfo | undefined;
}

export class OracleChecker extends CountingChecker {
  readonly name = 'oracle';
  readonly #service: Service;
  readonly #submissions: () => readonly string[];
  readonly #model: Model;
  /** Red operations by log, and blue ones by site, as the first site has shown them. */
  readonly #lists: PlacedOperation[][];
  readonly #placed = new Map<string, PlacedOperation>();
  /**
   * The latest time up to each place of a red log, by log. The times of the operations themselves
   * need not increase.
   */
  readonly #redTimes = new Map<number, number[]>();
  /** The last run by site and operation. */
  readonly #lastRuns = new Map<string, OracleRun>();
  /** The run that an execution came from, by execution. */
  readonly #created = new Map<string, OracleRun>();
  /** All runs by site and submission, and by operation. */
  readonly #runs = new Map<string, OracleRun[]>();
  /**
   * The number of red operations of each log that had been reported when a submission was made, by
   * site and submission.
   */
  readonly #reportedRedCounts = new Map<string, ReadonlyMap<number, number>>();
  /** The table of origins that the present start of a site uses, by site. */
  readonly #origins = new Map<Origin, Origins>();
  /** By log. A new map is made for each change. */
  #shownRedPlaces: ReadonlyMap<number, number> = new Map();
  readonly #partitions: Partitions;
  /** `undefined` if there is one red log only. */
  readonly #order: PartitionOrder | undefined;

  constructor({ service, lookups }: TracedService, origins: Origins, partitions: Partitions) {
    super(origins);
    this.#partitions = partitions;
    this.#order = origins.logs.length > 1 ? new PartitionOrder(origins) : undefined;
    this.#service = service;
    this.#submissions = lookups;
    this.#model = new Model(service.tables);
    this.#lists = Array.from({ length: origins.size }, () => []);
  }

  onMembers(site: Origin, origins: Origins): void {
    this.#origins.set(site, origins);
  }

  /** The number of places of all red logs that a site has shown. */
  get redCount(): number {
    const counts = this.founding.logs.map((log) => this.#lists[log]?.length);
    return counts.reduce<number>((sum, count = 0) => sum + count, 0);
  }

  /**
   * Returns the color with which a site shows an operation that it has answered. `none` if the
   * operation changed nothing.
   */
  getColorAt(site: Origin, id: string): 'blue' | 'red' | 'none' {
    const placed = this.#placed.get(id);
    if (placed === undefined || !this.#isShown(site, placed)) return 'none';
    return this.founding.isLog(placed.model.list) ? 'red' : 'blue';
  }

  /** Returns whether the placed operation changes anything. A refusal in the red order does not. */
  hasEffects(id: string): boolean {
    return (this.#placed.get(id)?.effects.length ?? 0) > 0;
  }

  onGeneratorRun(
    site: Origin,
    { input: value, id, outcome, isPipelined, isAlone }: GeneratorRun,
  ): void {
    const input = {
      ...value,
      site,
      closed: this.#origins.get(site)?.closed ?? [],
    };
    const seen = [...this.getState(site)];
    if (isPipelined) return this.#note(site, id, { input, seen, outcome, isAlone });
    const requested = this.#submissions();
    const expected = execute(this.#service, () => new ModelView(this.#model, seen), input);
    assertProperty(
      isSame(outcome, expected),
      () =>
        `${input.operation} at site ${site} ${describeOutcome(outcome)}, and on what the site shows it ${describeOutcome(expected)}: ${PURITY_ADVICE}`,
    );
    const again = new Set(this.#submissions());
    // The second run may request more, because the model ends no run that takes too long.
    const missing = requested.find((item) => !again.has(item));
    assertProperty(
      outcome.hasFailed || missing === undefined,
      () =>
        `${input.operation} at site ${site} asked for ${missing} and, run again on the same, did not: ${STATE_ADVICE}`,
    );
    this.#note(site, id, { input, seen, outcome: expected, isAlone });
  }

  #note(site: Origin, id: string | undefined, run: OracleRun): void {
    const { input } = run;
    for (const key of [`${site}:${input.serial}`, ...(id === undefined ? [] : [id])]) {
      const runs = this.#runs.get(key);
      if (runs === undefined) this.#runs.set(key, [run]);
      else runs.push(run);
    }
    if (id !== undefined) this.#lastRuns.set(`${site}:${id}`, run);
  }

  onCreated(site: Origin, operation: AnyOperation): void {
    const { id, effects } = operation;
    const run = isSiteOperation(operation)
      ? this.#createOwnRun(site, operation)
      : this.#lastRuns.get(`${site}:${id}`);
    assertProperty(
      run !== undefined,
      () => `${id} was made at site ${site} and its generator never ran there`,
    );
    assertProperty(
      isSameSentList(effects, run.outcome.effects),
      () => `${id} has other effects than its generator chose`,
    );
    this.#created.set(formatOperation(operation), run);
  }

  override onApplied(site: Origin, operation: AnyOperation, state: SiteState): void {
    super.onApplied(site, operation, state);
    const list = getListOf(operation, this.founding);
    const shown = this.getState(site);
    const place = shown[list] as number;
    const stamp = state.stable[list] ?? 0;
    const known = this.#lists[list]?.[place - 1];
    if (known === undefined) this.#place(operation, { list, shown, stamp });
    else {
      this.#order?.checkSameTime(operation, known.model.time, stamp);
      assertProperty(
        known.id === operation.id && isSameSentList(known.effects, operation.effects),
        () =>
          `site ${site} shows ${operation.id} where another showed ${known.id}, or with other effects`,
      );
    }
  }

  onSubmitted({ site, serial }: { readonly site: Origin; readonly serial: number }): void {
    this.#reportedRedCounts.set(`${site}:${serial}`, this.#shownRedPlaces);
  }

  onView({ site, serial, operation, isRead, stage, value, meta }: ClientView): void {
    if (stage === 'tentative') return this.#checkPreliminary(site, serial, value);
    const { id } = operation;
    const input: Reply = { value, ...(meta && { meta }) };
    if (isRead) return this.#checkRead(site, serial, stage, input);
    const placed = this.#placed.get(id);
    if (placed === undefined) {
      assertProperty(
        stage !== 'strong',
        () => `${id} was answered as strong and stands nowhere in the red order`,
      );
      const isOutcome = (this.#runs.get(id) ?? []).some(
        ({ outcome: { shadow, reply } }) => shadow === undefined && isSameReply(reply, input),
      );
      assertProperty(
        isOutcome,
        () => `${id} was answered ${formatValue(input)}: no run without effects gave that`,
      );
      return;
    }
    assertProperty(
      this.#isShown(site, placed),
      () => `${id} was answered by site ${site}, which does not show it yet`,
    );
    assertProperty(
      isSameReply(placed.reply, input),
      () => `${id} was answered ${formatValue(input)}, not ${formatValue(placed.reply)}`,
    );
    const { list, place } = placed.model;
    const isRedPlaced = this.founding.isLog(list);
    assertProperty(
      stage === (isRedPlaced ? 'strong' : 'committed'),
      () =>
        `${id} was answered as ${stage}, and stands ${isRedPlaced ? 'in the red order' : 'in the stream of a site'}`,
    );
    if (isRedPlaced && place > (this.#shownRedPlaces.get(list) ?? 0))
      this.#shownRedPlaces = new Map([...this.#shownRedPlaces, [list, place]]);
  }

  /**
   * Checks a refusal like any reply. If red operations could cause it, it must come from the red
   * order.
   */
  onDomainError({
    site,
    serial,
    operation: { id, operation, level },
    isRead,
    stage,
    domain,
  }: ClientDomainError): void {
    const refuses = ({ outcome }: OracleRun): boolean => isSameSent(outcome.domainError, domain);
    if (isRead)
      return this.#checkReadBy(refuses, {
        site,
        serial,
        stage: stage ?? level,
        what: domain,
      });
    // A preliminary refusal is not checked.
    if (stage !== undefined) return undefined;
    const placed = this.#placed.get(id);
    if (placed === undefined) {
      const mayBeRed =
        this.#hasRed && this.#service.contract.operations[operation]?.color !== 'blue';
      assertProperty(
        !mayBeRed,
        () => `${id} was refused (${domain.name}) and stands nowhere in the red order`,
      );
      return assertProperty(
        (this.#runs.get(id) ?? []).some(refuses),
        () => `${id} was refused (${domain.name}) by no run`,
      );
    }
    assertProperty(
      this.#isShown(site, placed),
      () => `${id} was refused by site ${site}, which does not show that yet`,
    );
    return assertProperty(
      isSameSent(placed.domainError, domain),
      () => `${id} was refused: ${formatValue(domain)}, not ${formatValue(placed.domainError)}`,
    );
  }

  /**
   * Checks failures. One that does not come from the backend must come from a generator, or from
   * the reply of a shadow operation.
   */
  onSubmissionEvent({
    site,
    serial,
    operation: { id },
    isRead,
    stage,
    code,
  }: SubmissionEvent): void {
    if (code === undefined || isBackendError(code) || stage === 'tentative') return;
    const runs = this.#runs.get(isRead ? `${site}:${serial}` : id) ?? [];
    const placed = isRead ? undefined : this.#placed.get(id);
    const hasNoReply =
      placed !== undefined && placed.reply === undefined && placed.domainError === undefined;
    assertProperty(
      hasNoReply || runs.some(({ outcome }) => outcome.hasFailed),
      () => `${id} failed with ${code}, which no generator came to`,
    );
  }

  /**
   * Returns a run for an operation that the site makes itself: a low watermark, which changes
   * nothing, or a transfer, which another checker checks.
   */
  #createOwnRun(site: Origin, { id: operation, reply, effects }: AnyOperation): OracleRun {
    const input = {
      name: '',
      serial: 0,
      operation,
      args: undefined,
      submittedAtMs: 0,
      seed: 0,
    };
    return {
      input,
      seen: [...this.getState(site)],
      outcome: { hasFailed: false, effects, reply },
    };
  }

  get #hasRed(): boolean {
    return Object.values(this.#service.colors).includes('red');
  }

  onFinished({ sites }: FinalState): void {
    for (const { site, state } of sites) this.#checkState(site, state);
  }

  #checkState(site: Origin, state: SiteState): void {
    const difference = describeDifference(
      new ModelView(this.#model, this.getState(site)),
      state.store,
    );
    assertProperty(difference === undefined, () => `site ${site} ends with ${difference}`);
  }

  /**
   * Checks a preliminary view. If nothing else of its site was in flight, it is the result of the
   * run on the state that the site showed.
   */
  #checkPreliminary(site: Origin, serial: number, value: unknown): void {
    const runs = this.#runs.get(`${site}:${serial}`) ?? [];
    assertProperty(runs.length > 0, () => `a guess was made at site ${site}, and no generator ran`);
    if (!runs.every(({ isAlone }) => isAlone)) return;
    const guesses = runs.map(({ input: { operation }, seen, outcome }) =>
      createPreliminary(this.#service, new ModelView(this.#model, seen), {
        ...outcome,
        operation,
      }),
    );
    assertProperty(
      guesses.some((guess) => isSameSent(guess, value)),
      () =>
        `a guess at site ${site} was ${formatValue(value)}, not ${guesses.map(formatValue).join(' or ')}`,
    );
  }

  /**
   * Checks that a read shows the state of its site. A strong one shows all red operations that were
   * reported before it began.
   */
  #checkRead(site: Origin, serial: number, stage: string, value: Reply): void {
    const gave = ({ outcome }: OracleRun): boolean => isSameReply(outcome.reply, value);
    this.#checkReadBy(gave, { site, serial, stage, what: value });
  }

  #checkReadBy(
    gave: (run: OracleRun) => boolean,
    {
      site,
      serial,
      stage,
      what: description,
    }: { site: Origin; serial: number; stage: string; what: unknown },
  ): void {
    const key = `${site}:${serial}`;
    const runs = (this.#runs.get(key) ?? []).filter(gave);
    assertProperty(
      runs.length > 0,
      () => `a read at site ${site} was answered ${formatValue(description)} by no run`,
    );
    if (stage !== 'strong') return;
    const [{ input }] = runs as [OracleRun];
    const log = this.#homeOf(input);
    const reported = this.#reportedRedCounts.get(key)?.get(log) ?? 0;
    assertProperty(
      runs.some(({ seen }) => (seen[log] ?? 0) >= reported),
      () =>
        `a strong read at site ${site} misses some of the ${reported} red operations that were answered before it`,
    );
  }

  /** Returns the red log that orders the operation of a run. */
  #homeOf({ operation, args }: RunInput): Origin {
    const plan = getOperationPlans(this.#service).get(operation);
    const home = plan === undefined ? 0 : this.#partitions.homeOf(plan, args);
    return this.founding.logs[home] as Origin;
  }

  /** Executes the operation at its place, which never changes. */
  #place(
    operation: AnyOperation,
    { list, shown, stamp }: { list: number; shown: Counts; stamp: number },
  ): void {
    const { id, site, effects } = operation;
    const place = shown[list] as number;
    const run = this.#created.get(formatOperation(operation));
    assertProperty(run !== undefined, () => `site ${site} shows ${id}, which no client submitted`);
    // The red order continues from the latest time in it.
    const time = isRed(operation)
      ? this.#getRedTime(operation, list, stamp)
      : (operation.vector[site] ?? 0);
    // The operations before a blue one in the stream of its site count as seen, even if they were
    // not visible there yet. So do those before a red one in the red order: it has seen them, or it
    // touches nothing that they touch.
    const seen =
      this.#order !== undefined && isRed(operation)
        ? this.#order.getSeen(operation, run.seen, shown)
        : [...run.seen];
    setCount(seen, list, place - 1);
    const model: ModelOperation = { list, place, seen, time, site };
    this.#checkTime(id, isRed(operation) ? { ...model, seen: run.seen } : model);
    const isExecuted = isRed(operation) && !isSiteOperation(operation);
    const { reply, refusal: rejection } = isExecuted
      ? this.#executeAt(operation, model, run)
      : { reply: operation.reply };
    if (!isExecuted) {
      const isRunReply = isSameSent(reply?.value, run.outcome.reply?.value);
      assertProperty(
        isRunReply && isSameSentList(effects, run.outcome.effects),
        () => `${id} is not as it was made`,
      );
    }
    this.#model.add(model, toSentEffects(effects));
    const placed = { id, effects, model, reply, domainError: rejection };
    while (this.#lists.length <= list) this.#lists.push([]);
    (this.#lists[list] as PlacedOperation[])[place - 1] = placed;
    this.#placed.set(id, placed);
    if (!isRed(operation)) return;
    const times = this.#redTimes.get(list) ?? [];
    times.push(time);
    this.#redTimes.set(list, times);
    this.#order?.add(operation, list, place, time);
  }

  /**
   * Returns the time of a red operation. With several logs, records of globals that are no
   * operations have times too, so that it may be later.
   */
  #getRedTime(operation: RedOperation, list: number, stamp: number): number {
    const last = this.#redTimes.get(list)?.at(-1) ?? 0;
    const least = Math.max(last + 1, operation.clock);
    return this.#order?.getTime(operation, stamp, least) ?? least;
  }

  /**
   * Executes a red operation on all red ones before it and the blue ones that it had seen. Returns
   * its reply.
   */
  #executeAt(
    operation: AnyOperation,
    model: ModelOperation,
    { input, outcome, seen }: OracleRun,
  ): {
    readonly reply: Reply | undefined;
    readonly refusal?: DomainErrorInfo | undefined;
  } {
    const view = (): ModelView => new ModelView(this.#model, model.seen);
    const expected = execute(this.#service, view, input);
    const { id, effects } = operation;
    assertProperty(
      isSame(expected, outcome) && isSameSentList(expected.effects, effects),
      () =>
        `${id} (${input.operation}) stands at ${model.place} of the red order and there it ${describeOutcome(expected)}; it was executed after ${seen[model.list]} of them, and there it ${describeOutcome(outcome)}`,
    );
    const reply = createReplyAt(this.#service, view(), model, {
      ...expected,
      operation: input.operation,
    });
    return { reply, refusal: expected.domainError };
  }

  /** Checks that the last writer is also the later one if one writer has seen the other. */
  #checkTime(id: string, { seen, time }: ModelOperation): void {
    for (const [list, count] of seen.entries()) {
      const last = this.founding.isLog(list)
        ? this.#redTimes.get(list)?.[count - 1]
        : this.#lists[list]?.[count - 1]?.model.time;
      assertProperty(
        (last ?? 0) < time,
        () => `${id} has time ${time} and had seen an operation of ${last}`,
      );
    }
  }

  #isShown(site: Origin, { model: { list, place } }: PlacedOperation): boolean {
    return (this.getState(site)[list] ?? 0) >= place;
  }
}

/**
 * Returns the name of an execution. After a crash, an execution may differ only in its effects from
 * one that was lost, because it drew other values.
 */
function formatOperation(operation: AnyOperation): string {
  if (isRed(operation))
    return `${getExecutionName(operation)} ${operation.shadow} ${encodeValue(operation.effects)}`;
  return `blue ${operation.site}.${operation.sequence} ${operation.id}`;
}
