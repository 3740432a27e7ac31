/** What every binding promises (Correctables, OSDI 2016, §5.1): whoever writes one runs this suite on it. */
import type { Binding, InvocationContext, Sink, ViewDetails } from '../correctable/binding.ts';
import type { Client } from '../correctable/client.ts';
import { createClient } from '../correctable/client.ts';
import { check, isCorrectableError } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/given.ts';
import type { Levels } from '../correctable/level.ts';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView } from '../correctable/view.ts';

/** The part of a test runner that the suite needs; vitest's own functions fit. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
  readonly expect: (actual: unknown) => Expectation;
}

export interface Expectation {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toContain(expected: unknown): void;
}

/** A binding in a state of its own, and what releases it. */
export interface OpenBinding {
  readonly binding: Binding;
  /** Another binding to the same store, where there can be one: it sees what a closed one has done. */
  readonly another?: () => Promise<Binding>;
  /** Stops what stands behind the binding, which the suite has closed by then. */
  readonly release?: () => Promise<void>;
}

/** The binding under test, and operations by which it can be known. */
export interface ContractSubject {
  readonly name: string;
  /** Makes a binding to a store without data. */
  open(): Promise<OpenBinding>;
  /** An update that `read` shows. */
  readonly update: Operation;
  readonly read: Operation;
  /** What a read at the strongest level gives after `update` was done once. */
  readonly expected: unknown;
  /** An operation whose final view fails, where the store has one. */
  readonly failing?: Operation;
  /**
   * Bindings like that of `open` whose weaker levels give nothing, where there can be such, by what becomes of those:
   * `{ fail: open…, 'stay away': open… }`.
   */
  readonly weakless?: Readonly<Record<string, () => Promise<OpenBinding>>>;
}

/** So many updates are made at once: with one, a guess is hardly ever overtaken. */
const MANY = 20;

const UNKNOWN_OPERATION: Operation = { name: 'contract-suite:no-such-operation', args: {}, effect: 'read' };

/**
 * Registers the contract suite for one binding with a test runner.
 *
 * @example
 * import { describe, expect, test } from 'vitest';
 * bindingContract(
 *   {
 *     name: 'memory',
 *     open: async () => ({ binding: memory() }),
 *     update: put('k', 1),
 *     read: get('k'),
 *     expected: 1,
 *   },
 *   { describe, test, expect },
 * );
 */
export function bindingContract(subject: ContractSubject, runner: TestRunner): void {
  checkArguments(subject, runner);
  const { describe, test } = runner;
  const suite = new ContractSuite(subject, runner.expect);
  describe(`binding contract: ${subject.name}`, () => {
    test('levels: asked twice → one list of different names', () => suite.declaresLevels());
    test('read: all levels → ordered views, one final at the strongest', () => suite.ordersViews());
    test('read: one level requested → one final view at it or above', () => suite.answersEachLevel());
    test('update: all levels → the strongest read shows it', () => suite.showsUpdates());
    test('update: weakest level only → takes effect all the same', () => suite.levelsChooseViewsOnly());
    test('update: one level requested, many at once → one final view each, at it or above if there is such a level', () =>
      suite.answersUpdates());
    for (const [what, open] of Object.entries(subject.weakless ?? {})) {
      test(`update: weaker levels ${what} → the final answers, whatever was requested`, () =>
        suite.answersWithoutWeak(open));
    }
    test('update: cancelled under way → runs to its end', () => suite.runsCancelledUpdates());
    test('read: cancelled → closes, and the binding stays usable', () => suite.survivesCancel());
    test('sink: every call → a requested level or above, confirms only what was said', () => suite.speaksInOrder());
    test('session: read after write → every view shows the write', () => suite.keepsSessions());
    test('operation: unknown → UNSUPPORTED', () => suite.refusesUnknown());
    test('close: operations under way and later → closed, none hangs', () => suite.closes());
    test('close: an update under way → done, UNKNOWN, or certainly not done', () => suite.closesUpdates());
    test('close: one client of several on a shared binding → the others go on', () => suite.closesOneOfSeveral());
    if (subject.failing !== undefined) {
      test('failure: the final fails → a typed error', () => suite.failsTyped(subject.failing!));
    }
  });
}

function checkArguments(subject: unknown, runner: unknown): void {
  const call = "bindingContract({ name: 'memory', open, update, read, expected }, { describe, test, expect })";
  check(hasMethods(subject, 'open'), 'subject', `must be a binding under test: write ${call}`);
  check(
    hasMethods(runner, 'describe', 'test', 'expect'),
    'runner',
    `must have describe, test and expect: write ${call}`,
  );
}

type AnyClient = Client<Levels>;

class ContractSuite {
  readonly #subject: ContractSubject;
  readonly #expect: TestRunner['expect'];

  constructor(subject: ContractSubject, expect: TestRunner['expect']) {
    this.#subject = subject;
    this.#expect = expect;
  }

  async declaresLevels(): Promise<void> {
    await this.#withBinding(async (binding) => {
      const levels = binding.consistencyLevels();
      this.#expect(levels.length > 0).toBe(true);
      this.#expect(new Set(levels).size).toBe(levels.length);
      this.#expect([...binding.consistencyLevels()]).toEqual([...levels]);
    });
  }

  async ordersViews(): Promise<void> {
    await this.#withClient(async (client) => {
      await client.invoke(this.#subject.update);
      const views = await this.#viewsOf(client, this.#subject.read);
      const ranks = views.map(({ level }) => client.levels.indexOf(level));
      this.#expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b));
      this.#expect(views.map(({ final }) => final)).toEqual(views.map((_, at) => at === views.length - 1));
      this.#expect(views.at(-1)?.level).toBe(client.strongest);
      this.#expect(client.drops).toEqual({ ...client.drops, 'unknown-level': 0, 'not-requested': 0, closed: 0 });
    });
  }

  async answersEachLevel(): Promise<void> {
    await this.#withClient(async (client) => {
      await client.invoke(this.#subject.update);
      for (const [rank, level] of client.levels.entries()) {
        const views: AnyView[] = [];
        for await (const view of client.invoke(this.#subject.read, { levels: [level] })) views.push(view);
        this.#expect(views.map(({ final }) => final)).toEqual([true]);
        this.#expect(client.levels.indexOf(views[0]!.level) >= rank).toBe(true);
      }
    });
  }

  async showsUpdates(): Promise<void> {
    await this.#withClient(async (client) => {
      await client.invoke(this.#subject.update);
      this.#expect(await client.invokeStrong(this.#subject.read)).toEqual(this.#subject.expected);
    });
  }

  async levelsChooseViewsOnly(): Promise<void> {
    await this.#withClient(async (client) => {
      await client.invokeWeak(this.#subject.update);
      await this.#untilShown(client);
    });
  }

  async answersUpdates(): Promise<void> {
    await this.#withClient(async (client) => {
      // An update may have no stronger level than this: then its answer says so, whatever is asked for.
      const [strongest] = await this.#viewsOf(client, this.#subject.update, [client.strongest]);
      const reached = client.levels.indexOf(strongest!.level);
      for (const [rank, level] of client.levels.entries()) {
        const updates = Array.from({ length: MANY }, () => this.#viewsOf(client, this.#subject.update, [level]));
        for (const views of await Promise.all(updates)) {
          this.#expect(views.map(({ final }) => final)).toEqual([true]);
          this.#expect(client.levels.indexOf(views[0]!.level) >= Math.min(rank, reached)).toBe(true);
        }
      }
    });
  }

  /** Where an update was made, its caller is told: that a guess could not be had is no reason to be silent, or to fail. */
  async answersWithoutWeak(open: () => Promise<OpenBinding>): Promise<void> {
    const { binding, release } = await open();
    try {
      const client = createClient(binding);
      for (const level of [...client.levels.slice(0, -1), undefined]) {
        const views = await this.#viewsOf(client, this.#subject.update, level === undefined ? undefined : [level]);
        this.#expect(views.map((view) => [view.level, view.final])).toEqual([[client.strongest, true]]);
      }
    } finally {
      await binding.close();
      await release?.();
    }
  }

  async runsCancelledUpdates(): Promise<void> {
    await this.#withClient(async (client) => {
      // Once the store has answered, what is submitted is on its way: before that it may not have left.
      await client.invokeStrong(this.#subject.read);
      const update = client.invoke(this.#subject.update);
      update.cancel('contract suite');
      const error = await update.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      this.#expect(isCorrectableError(error, 'UNKNOWN')).toBe(true);
      await this.#untilShown(client);
    });
  }

  async survivesCancel(): Promise<void> {
    await this.#withClient(async (client) => {
      const read = client.invoke(this.#subject.read);
      read.cancel('contract suite');
      const error = await read.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      this.#expect(isCorrectableError(error, 'ABORTED')).toBe(true);
      await client.invoke(this.#subject.update);
      this.#expect(await client.invokeStrong(this.#subject.read)).toEqual(this.#subject.expected);
    });
  }

  async speaksInOrder(): Promise<void> {
    await this.#withBinding(async (binding) => {
      const levels = binding.consistencyLevels();
      for (const operation of [this.#subject.update, this.#subject.read]) {
        const recorder = new SinkRecorder(levels.at(-1)!);
        binding.submitOperation(operation, levels, recorder, plainContext());
        await recorder.closed;
        for (const level of recorder.levels) this.#expect(levels).toContain(level);
        this.#expect(recorder.isFinal || recorder.levels.at(-1) === levels.at(-1)).toBe(true);
        this.#expect(recorder.confirmedUnsaid).toBe(0);
      }
    });
  }

  async keepsSessions(): Promise<void> {
    await this.#withClient(async (client, binding) => {
      if (binding.openSession === undefined) {
        this.#expect(errorOf(() => client.session())).toBe('UNSUPPORTED');
        return;
      }
      using session = client.session();
      await client.invokeStrong(this.#subject.update, { session });
      for await (const view of client.invoke(this.#subject.read, { session })) {
        this.#expect(view.value).toEqual(this.#subject.expected);
      }
      const weak = await client.invokeWeak(this.#subject.read, { session });
      this.#expect(weak).toEqual(this.#subject.expected);
    });
  }

  async refusesUnknown(): Promise<void> {
    await this.#withClient(async (client, binding) => {
      this.#expect(binding.supports(UNKNOWN_OPERATION)).toBe(false);
      this.#expect(binding.supports(this.#subject.read)).toBe(true);
      const error = await client.invoke(UNKNOWN_OPERATION).catch((reason: unknown) => reason);
      this.#expect(isCorrectableError(error, 'UNSUPPORTED')).toBe(true);
    });
  }

  async closes(): Promise<void> {
    await this.#withClient(async (client, binding) => {
      const underWay = client.invoke(this.#subject.read);
      // Observed before closing, which may take longer than the operation has until it fails.
      const ended = underWay.then(
        () => true,
        (error: unknown) => isCorrectableError(error),
      );
      await client.close();
      this.#expect(await ended).toBe(true);
      await binding.close();
      const late = await createClient(binding)
        .invoke(this.#subject.read)
        .catch((error: unknown) => error);
      this.#expect(isCorrectableError(late, 'UNAVAILABLE')).toBe(true);
    });
  }

  async closesUpdates(): Promise<void> {
    const { binding, another, release } = await this.#subject.open();
    const client = createClient(binding);
    const outcome = outcomeOf(client.invoke(this.#subject.update));
    await client.close();
    const told = await outcome;
    const observer = binding.share === undefined ? await another?.() : binding;
    if (told !== 'done' && told !== 'UNKNOWN' && observer !== undefined) {
      const shown = await createClient(observer).invokeStrong(this.#subject.read);
      this.#expect(JSON.stringify(shown) === JSON.stringify(this.#subject.expected)).toBe(false);
    }
    this.#expect(told === 'not typed').toBe(false);
    await observer?.close();
    await binding.close();
    await release?.();
  }

  async closesOneOfSeveral(): Promise<void> {
    await this.#withBinding(async (binding) => {
      if (binding.share === undefined) return;
      const [leaving, staying] = [createClient(binding), createClient(binding)];
      const outcomes = [leaving, staying].map((client) => outcomeOf(client.invoke(this.#subject.update)));
      await leaving.close();
      this.#expect(['done', 'UNKNOWN']).toContain(await outcomes[0]);
      this.#expect(await outcomes[1]).toBe('done');
      for (const client of [staying, createClient(binding)]) await client.invokeStrong(this.#subject.read);
    });
  }

  async failsTyped(failing: Operation): Promise<void> {
    await this.#withClient(async (client) => {
      const error = await client.invoke(failing).catch((reason: unknown) => reason);
      this.#expect(isCorrectableError(error)).toBe(true);
    });
  }

  /** Asks again and again: how long a detached update takes is the store's business. */
  async #untilShown(client: AnyClient): Promise<void> {
    let shown: unknown;
    do shown = await client.invokeStrong(this.#subject.read);
    while (JSON.stringify(shown) !== JSON.stringify(this.#subject.expected));
    this.#expect(shown).toEqual(this.#subject.expected);
  }

  async #viewsOf(client: AnyClient, operation: Operation, levels?: readonly [string]): Promise<AnyView[]> {
    const views: AnyView[] = [];
    for await (const view of levels === undefined ? client.invoke(operation) : client.invoke(operation, { levels })) {
      views.push(view);
    }
    return views;
  }

  async #withBinding(body: (binding: Binding) => Promise<void>): Promise<void> {
    const { binding, release } = await this.#subject.open();
    try {
      await body(binding);
    } finally {
      await binding.close();
      await release?.();
    }
  }

  #withClient(body: (client: AnyClient, binding: Binding) => Promise<void>): Promise<void> {
    return this.#withBinding((binding) => body(createClient(binding), binding));
  }
}

/** Writes down what a binding says, to be judged afterwards. */
class SinkRecorder implements Sink {
  readonly levels: string[] = [];
  /** How many confirmations were of a view that had not been said by then. */
  confirmedUnsaid = 0;
  readonly closed: Promise<void>;
  updates = 0;
  /** Whether the last view said itself that it is the final. */
  isFinal = false;
  readonly #strongest: string;
  #close!: () => void;

  constructor(strongest: string) {
    this.#strongest = strongest;
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  update(_value: unknown, level: string, details?: ViewDetails): number {
    this.#hear(level, details);
    return this.updates++;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    if (!(seq >= 0 && seq < this.updates)) this.confirmedUnsaid++;
    this.#hear(level, details);
  }

  fail(_error: unknown, level?: string): void {
    if (level === undefined || level === this.#strongest) this.#close();
  }

  #hear(level: string, details: ViewDetails | undefined): void {
    this.levels.push(level);
    this.isFinal = details?.final === true;
    if (level === this.#strongest || this.isFinal) this.#close();
  }
}

function plainContext(): InvocationContext {
  return { signal: new AbortController().signal, deadlineAt: undefined, session: undefined, trace: undefined };
}

async function outcomeOf(update: PromiseLike<unknown>): Promise<string> {
  return update.then(
    () => 'done',
    (error: unknown) => (isCorrectableError(error) ? error.code : 'not typed'),
  );
}

function errorOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return isCorrectableError(error) ? error.code : String(error);
  }
}
