/** Taking a view before the final one (C9). A waiter that has its answer leaves nothing behind on the source. */
import type { Timer } from './clock.ts';
import type { SettleOptions, WhenOptions } from './correctable.ts';
import { Deferred } from './deferred.ts';
import { CorrectableError } from './errors.ts';
import type { Levels } from './level.ts';
import { Listener } from './listener.ts';
import type { Source } from './source.ts';
import type { AnyView } from './view.ts';

/** Waits for the first view that `accepts`; `onFailure` and the timer say what happens where none comes. */
abstract class Waiter<T> extends Listener<T> {
  protected readonly source: Source<T>;
  readonly #answer = new Deferred<AnyView<T>>();
  #timer: Timer | undefined;

  constructor(source: Source<T>) {
    super();
    this.source = source;
  }

  start(withinMs: number | undefined): Promise<AnyView<T>> {
    this.source.observed = true;
    this.source.join(this);
    if (withinMs !== undefined) {
      this.#timer = this.source.environment.clock.setTimer(() => this.onTime(), withinMs);
    }
    return this.#answer.promise;
  }

  override onView(view: AnyView<T>): void {
    try {
      if (view.final || this.accepts(view)) this.answer(view);
    } catch (error) {
      this.refuse(error);
    }
  }

  protected abstract accepts(view: AnyView<T>): boolean;
  protected abstract onTime(): void;

  protected answer(view: AnyView<T>): void {
    this.#end();
    if (this.source.state === 'updating') this.source.more().answeredEarly = true;
    this.#answer.resolve(view);
  }

  protected refuse(error: unknown): void {
    this.#end();
    this.#answer.reject(error);
  }

  #end(): void {
    this.#timer?.cancel();
    this.source.leave(this);
  }
}

class SettleWaiter<T> extends Waiter<T> {
  readonly #options: SettleOptions<T, Levels, string>;
  #late = false;

  constructor(source: Source<T>, options: SettleOptions<T, Levels, string>) {
    super(source);
    this.#options = options;
  }

  protected override accepts(view: AnyView<T>): boolean {
    return this.#late || this.#options.when?.(view) === true;
  }

  protected override onTime(): void {
    this.#late = true;
    if (this.source.latest !== undefined) this.answer(this.source.latest);
  }

  protected override answer(view: AnyView<T>): void {
    super.answer(view);
    if (this.#options.rest === 'abort') this.source.cancel('settled early');
  }

  override onFailure(error: CorrectableError): void {
    const last = this.source.latest ?? error.lastView;
    if (this.#options.orLatest === true && last !== undefined) super.answer(last as AnyView<T>);
    else this.refuse(error);
  }
}

class LevelWaiter<T> extends Waiter<T> {
  readonly #level: string;

  constructor(source: Source<T>, level: string) {
    super(source);
    this.#level = level;
  }

  protected override accepts(view: AnyView<T>): boolean {
    const { ladder } = this.source;
    return ladder.rankOf(view.level) >= ladder.rankOf(this.#level);
  }

  protected override onTime(): void {
    this.#giveUp('in time');
  }

  override onFailure(error: CorrectableError): void {
    this.#giveUp('before the operation failed; see cause', error);
  }

  #giveUp(why: string, cause?: CorrectableError): void {
    this.refuse(
      new CorrectableError('LEVEL_NOT_REACHED', `No view at level "${this.#level}" or above came ${why}`, {
        level: this.#level,
        lastView: this.source.latest,
        levelErrors: cause?.levelErrors,
        cause,
      }),
    );
  }
}

export function settle<T>(source: Source<T>, options: SettleOptions<T, Levels, string>): Promise<AnyView<T>> {
  const { withinMs } = options;
  const invalid = invalidTime(withinMs);
  return invalid === undefined ? new SettleWaiter(source, options).start(withinMs) : Promise.reject(invalid);
}

export function when<T>(source: Source<T>, level: string, options?: WhenOptions): Promise<AnyView<T>> {
  const invalid = invalidTime(options?.withinMs);
  if (invalid !== undefined) return Promise.reject(invalid);
  try {
    source.ladder.requireLevel(level, 'level');
  } catch (error) {
    return Promise.reject(error);
  }
  return new LevelWaiter(source, level).start(options?.withinMs);
}

function invalidTime(withinMs: number | undefined): CorrectableError | undefined {
  if (withinMs === undefined || withinMs >= 0) return undefined;
  const message = 'withinMs: give a number of milliseconds, 0 or more';
  return new CorrectableError('INVALID_ARGUMENT', message, { field: 'withinMs' });
}
