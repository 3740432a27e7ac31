/** One operation on its way to a store: the sink that the binding feeds, and the context that it gets. */
import type { Binding, BindingSession, InvocationContext } from './binding.ts';
import type { Environment } from './environment.ts';
import { CorrectableError } from './errors.ts';
import type { Ladder } from './ladder.ts';
import { closeAfter } from './make.ts';
import type { Operation } from './operation.ts';
import type { SourceOptions } from './source.ts';
import { Source } from './source.ts';
import { isThenable } from './values.ts';

/** What all operations of one client share. */
export interface Shared {
  readonly environment: Environment;
  readonly isOlder: SourceOptions<unknown>['isOlder'];
  readonly trace: (() => unknown) | undefined;
  readonly captureContext: (() => (callback: () => void) => void) | undefined;
}

const MAY_TAKE_EFFECT = 'the update may take effect all the same';

export class Invocation<T> extends Source<T> implements InvocationContext {
  readonly session: BindingSession | undefined;
  readonly trace: unknown;
  readonly #mayTakeEffect: boolean;
  #submitted = false;

  constructor(shared: Shared, ladder: Ladder, operation: Operation<T>, session: BindingSession | undefined) {
    super(ladder, shared.environment, optionsOf(operation, shared));
    this.session = session;
    this.trace = shared.trace?.();
    this.#mayTakeEffect = operation.effect === 'update';
    if (shared.captureContext !== undefined) this.more().runInContext = shared.captureContext();
  }

  submitTo(binding: Binding, operation: Operation<T>): void {
    this.#submitted = true;
    try {
      const work: unknown = binding.submitOperation(operation, this.ladder.requested, this, this);
      if (isThenable(work)) closeAfter(this, work);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Counts each level that is late as failed; the strongest one fails the operation. */
  limitLevels(limitsMs: { readonly [level: string]: number | undefined }): void {
    for (const [level, limitMs] of Object.entries(limitsMs)) {
      this.ladder.requireLevel(level, 'levelTimeoutsMs');
      if (limitMs === undefined) continue;
      const timer = this.environment.clock.setTimer(() => this.#failLate(level), limitMs);
      this.onClose(() => timer.cancel());
    }
  }

  /** An update that is under way cannot be called back: its outcome is unknown, never "not done" (C10). */
  override cancel(reason?: unknown): void {
    if (this.#isUnderWay) this.close('UNKNOWN', `Cancelled: ${MAY_TAKE_EFFECT}`, reason, false);
    else super.cancel(reason);
  }

  override expire(): void {
    if (this.#isUnderWay) this.close('TIMEOUT', `No final view in time: ${MAY_TAKE_EFFECT}`, undefined, false);
    else super.expire();
  }

  get #isUnderWay(): boolean {
    return this.#submitted && this.#mayTakeEffect;
  }

  #failLate(level: string): void {
    const { latest } = this;
    if (latest !== undefined && this.ladder.rankOf(latest.level) >= this.ladder.rankOf(level)) return;
    this.fail(new CorrectableError('TIMEOUT', `No view at level "${level}" within its time limit`, { level }), level);
  }
}

function optionsOf<T>(operation: Operation<T>, shared: Shared): SourceOptions<T> | undefined {
  const { isOlder } = shared;
  const equals = operation.equals as ((a: T, b: T) => boolean) | undefined;
  return equals === undefined && isOlder === undefined ? undefined : { equals, isOlder };
}
