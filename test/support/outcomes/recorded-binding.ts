/** A binding that wraps another one and records what it reports for each submission. */
import type {
  Binding,
  InvocationContext,
  Sink,
  ViewDetails,
} from '../../../src/correctable/binding.ts';
import type { Operation } from '../../../src/correctable/operation.ts';

/** A view with its full content: for a confirmation, with the content of the confirmed view. */
export interface SaidView {
  readonly level: string;
  readonly value: unknown;
  readonly version: unknown;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

interface Levels {
  readonly all: readonly string[];
  readonly requested: readonly string[];
}

/** Everything that was reported for one submission. */
export class Account implements Sink {
  readonly context: InvocationContext;
  readonly views: SaidView[] = [];
  /** The last view, if the operation ended with a view. */
  final: SaidView | undefined;
  /** How many views were confirmations without a value. */
  confirmations = 0;
  /** Descriptions of calls that violate the contract of a sink. */
  readonly wrongs: string[] = [];
  readonly #sink: Sink;
  readonly #levels: readonly string[];
  readonly #strongest: number;
  /** The views by the number that the sink returned for them. */
  readonly #given = new Map<number, SaidView>();
  #isOver = false;

  constructor(sink: Sink, context: InvocationContext, { all, requested }: Levels) {
    this.#sink = sink;
    this.context = context;
    this.#levels = all;
    this.#strongest = all.indexOf(requested.at(-1) ?? '');
  }

  view(value: unknown, level: string, details?: ViewDetails): number {
    const view = { level, value, version: details?.version, meta: details?.meta };
    this.#say(view, details);
    const seq = this.#sink.view(value, level, details);
    this.#given.set(seq, view);
    return seq;
  }

  confirm(level: string, seq: number, details?: ViewDetails): void {
    const known = this.#given.get(seq);
    this.confirmations++;
    if (known === undefined) this.wrongs.push(`confirmed view ${seq}, which was never given`);
    // Compute the view here, without the tested code: a version replaces the earlier one, and
    // `meta` is merged key by key.
    else {
      const meta = known.meta || details?.meta ? { ...known.meta, ...details?.meta } : undefined;
      const view = { level, value: known.value, version: details?.version ?? known.version, meta };
      this.#given.set(seq, view);
      this.#say(view, details);
    }
    this.#sink.confirm(level, seq, details);
  }

  fail(error: unknown, level?: string): void {
    const isWhole = level === undefined || this.#levels.indexOf(level) >= this.#strongest;
    if (this.#isOver) this.wrongs.push('failed after the end');
    this.#isOver ||= isWhole;
    this.#sink.fail(error, level);
  }

  #say(view: SaidView, details: ViewDetails | undefined): void {
    if (this.#isOver) this.wrongs.push(`a view at ${view.level} after the end`);
    this.views.push(view);
    const isLast = details?.final === true || this.#levels.indexOf(view.level) >= this.#strongest;
    if (this.#isOver || !isLast) return;
    this.#isOver = true;
    this.final = view;
  }
}

/**
 * Wraps a binding. `onSubmitted` gets the account of each submission before anything is reported.
 */
export function recorded(
  binding: Binding,
  onSubmitted: (operation: Operation, account: Account) => void,
): Binding {
  const all = binding.consistencyLevels();
  return {
    name: binding.name,
    isExactlyOnce: binding.isExactlyOnce,
    consistencyLevels: () => all,
    supports: (operation) => binding.supports(operation),
    submitOperation(operation, requested, sink, context) {
      const account = new Account(sink as Sink, context, { all, requested });
      onSubmitted(operation, account);
      return binding.submitOperation(operation, requested, account, context);
    },
    close: () => binding.close(),
  };
}
