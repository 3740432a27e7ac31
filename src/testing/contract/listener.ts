/** A sink of the suite's own: what a binding says of one submission, before any client has put it in order. */
import { isOlder } from '../../correctable/binding.ts';
import type { Binding, InvocationContext, Sink, ViewDetails } from '../../correctable/binding.ts';
import { isThenable } from '../../correctable/given.ts';
import type { Operation } from '../../correctable/operation.ts';
import { hold, nameOf, show, tell } from './trial.ts';

interface Told {
  readonly level: string;
  readonly value: unknown;
  readonly version: unknown;
  readonly isFinal: boolean;
  /** What the value was when it was told, as sentences show it. */
  readonly shown: string;
}

/** The parts of a context that the suite sets. */
type Circumstances = Partial<Pick<InvocationContext, 'signal' | 'operationId' | 'origin' | 'idempotencyKey'>>;

export class Listener implements Sink {
  readonly operation: Operation;
  readonly requested: readonly string[];
  readonly views: Told[] = [];
  /** What the operation failed with, as a whole. */
  error: unknown;
  /** Resolves at the first final view or failure of the whole. */
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #binding: Binding;
  readonly #levels: readonly string[];
  /** The level weaker than its final that an update failed by. */
  #failedBy: string | undefined;
  #unsaid: number | undefined;
  readonly #values: { value: unknown; version: unknown }[] = [];
  #close!: () => void;

  private constructor(binding: Binding, operation: Operation, requested: readonly string[]) {
    this.#binding = binding;
    this.#levels = binding.consistencyLevels();
    this.operation = operation;
    this.requested = requested;
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  /** Submits as a client does: what is thrown fails the operation, and of a promise the end is the end. */
  static submit(
    binding: Binding,
    operation: Operation,
    levels: readonly string[] = binding.consistencyLevels(),
    { signal = new AbortController().signal, ...named }: Circumstances = {},
  ): Listener {
    const listener = new Listener(binding, operation, levels);
    const context: InvocationContext = {
      ...named,
      signal,
      deadlineAt: undefined,
      session: undefined,
      trace: undefined,
    };
    try {
      const given = binding.submitOperation(operation, levels, listener, context) as unknown;
      if (isThenable(given)) {
        given.then(
          () => listener.#end(new Error('the promise of submitOperation resolved before a final view')),
          (error: unknown) => listener.#end(error),
        );
      }
    } catch (error) {
      listener.#end(error);
    }
    return listener;
  }

  get final(): Told | undefined {
    return this.views.find(({ isFinal }) => isFinal);
  }

  update(value: unknown, level: string, details?: ViewDetails): number {
    this.#values.push({ value, version: details?.version });
    this.#hear(level, value, details?.version, details);
    return this.#values.length - 1;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const said = this.#values[seq];
    if (said === undefined) this.#unsaid ??= seq;
    this.#hear(level, said?.value, details?.version ?? said?.version, details);
  }

  fail(error: unknown, level?: string): void {
    if (level !== undefined && this.#rank(level) < this.#strongest) return;
    const isGuess = level !== undefined && this.#rank(level) < this.#levels.length - 1;
    if (isGuess && !this.isClosed && this.operation.effect === 'update') this.#failedBy = level;
    this.#end(error);
  }

  /**
   * Holds what was said until now to the contract.
   *
   * @throws ContractBreach
   */
  judge(): void {
    const asked = `${nameOf(this.operation)}, asked for ${this.requested.join(', ')}`;
    hold(this.#unsaid === undefined, () => `${asked}: confirms view ${this.#unsaid}, which it has not told`);
    this.#judgeLevels(asked);
    this.#judgeOrder(asked);
    this.#judgeValues(asked);
    const guess = this.#failedBy;
    hold(guess === undefined, () => `${asked}: fails by ${guess}, but no weaker level than its final fails an update`);
    hold(this.final !== undefined, () => `${asked}: no final view, but ${tell(this.error)}`, this.error);
  }

  #judgeLevels(asked: string): void {
    for (const { level, isFinal } of this.views) {
      hold(this.#rank(level) >= 0, () => `${asked}: a view at "${level}", which is none of ${this.#levels.join(', ')}`);
      // A stronger level than those requested answers in the place of the strongest of them; a final view may be weaker.
      hold(isFinal || this.requested.includes(level), () => `${asked}: a view at ${level}, which was not requested`);
    }
    const [stronger, ...others] = this.views.filter(({ level }) => this.#rank(level) > this.#strongest);
    const isInPlace = stronger === undefined || stronger === this.final;
    hold(isInPlace && others.length === 0, () => `${asked}: a view at ${stronger?.level}, which was not requested`);
  }

  #judgeOrder(asked: string): void {
    const end = this.views.findIndex(({ isFinal }) => isFinal);
    const late = end < 0 ? undefined : this.views[end + 1];
    hold(
      late === undefined,
      () => `${asked}: a view at ${late?.level} after the final one, which nobody sees any more`,
    );
    this.views.reduce<Told | undefined>((before, view) => {
      if (before === undefined) return view;
      const isStronger = view.isFinal || this.#rank(view.level) > this.#rank(before.level);
      hold(isStronger, () => `${asked}: a view at ${view.level} after one at ${before.level}`);
      return view;
    }, undefined);
    this.#judgeVersions(asked);
  }

  /** What was told is its hearers': a binding that goes on to work with it changes what they have. */
  #judgeValues(asked: string): void {
    const changed = this.views.find(({ value, shown }) => show(value) !== shown);
    const values = (): string => `told as ${changed?.shown}, and changed into ${show(changed?.value)} since`;
    hold(changed === undefined, () => `${asked}: the value of the view at ${changed?.level} was ${values()}`);
  }

  /** A preliminary view that is older than another one is dropped on its way; the final one is what there is. */
  #judgeVersions(asked: string): void {
    const { final } = this;
    const newer = this.views.find(({ version }) => isVersionOlder(this.#binding, final?.version, version));
    const versions = (): string =>
      `a final view of version ${show(final?.version)} after one of ${show(newer?.version)}`;
    hold(newer === undefined, () => `${asked}: goes back in versions: ${versions()}`);
  }

  get #strongest(): number {
    return this.#rank(this.requested.at(-1)!);
  }

  #rank(level: string): number {
    return this.#levels.indexOf(level);
  }

  #hear(level: string, value: unknown, version: unknown, details: ViewDetails | undefined): void {
    const isFinal = details?.final === true || this.#rank(level) >= this.#strongest;
    this.views.push({ level, value, version, isFinal, shown: show(value) });
    if (isFinal) this.#shut();
  }

  #end(error: unknown): void {
    if (this.isClosed) return;
    this.error = error;
    this.#shut();
  }

  #shut(): void {
    this.isClosed = true;
    this.#close();
  }
}

/** Whether the binding holds `version` for older; what cannot be compared is not. */
export function isVersionOlder(binding: Binding, version: unknown, than: unknown): boolean {
  if (version === undefined || than === undefined) return false;
  return binding.isOlder === undefined ? isOlder(version, than) : binding.isOlder(version, than);
}
