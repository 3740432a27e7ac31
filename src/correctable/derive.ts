/** Sources made from other sources: they observe these and inherit the duty to report a failure (C5). */
import type { CorrectableError } from './errors.ts';
import type { Listener } from './listener.ts';
import { Source } from './source.ts';
import type { AnyView } from './view.ts';

const REFINING = { refining: true } as const;

/** A source that listens to another. It may repeat a level, and knows how long the operation may take. */
export abstract class Derived<T, U> extends Source<U> implements Listener<T> {
  joinedAt = 0;
  missed: AnyView<T> | undefined = undefined;
  before: Listener<T> | undefined = undefined;
  after: Listener<T> | undefined = undefined;
  protected readonly source: Source<T>;

  constructor(source: Source<T>) {
    const isOlder = source.options?.isOlder;
    super(source.ladder, source.environment, isOlder === undefined ? REFINING : { refining: true, isOlder });
    this.source = source;
    this.deadlineAt = source.deadlineAt;
    source.observed = true;
  }

  abstract onView(view: AnyView<T>): void;

  onFailure(error: CorrectableError): void {
    this.failWith(error);
  }

  protected override onClosed(): void {
    super.onClosed();
    this.source.leave(this);
  }
}
