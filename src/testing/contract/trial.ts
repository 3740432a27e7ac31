/** Where the contract suite tries a binding: opens and closes it, waits for what it promises, and no longer than that. */
import type { Binding } from '../../correctable/binding.ts';
import { createClient, type Client } from '../../correctable/made/client.ts';
import type { Levels } from '../../correctable/level.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { AnyView } from '../../correctable/view.ts';
import { ContractBreach, hold, nameOf, show, tell } from './breach.ts';
import type { ContractSubject, OpenBinding, TestRunner } from './subject.ts';

export type AnyClient = Client<Levels>;

/** The five seconds after which test runners give up, less what it takes to open and to close. */
const PATIENCE_MS_DEFAULT = 4_000;

/** An update, and what `read` gives at the strongest level once it was done once. */
export type Mark = Pick<ContractSubject, 'update' | 'read' | 'expected'>;

export class Trial {
  readonly subject: ContractSubject;
  readonly patienceMs: number;
  readonly #expect: TestRunner['expect'];

  constructor(subject: ContractSubject, expect: TestRunner['expect']) {
    this.subject = subject;
    this.patienceMs = subject.patienceMs ?? PATIENCE_MS_DEFAULT;
    this.#expect = expect;
  }

  /** Opens a binding for `body` and closes it after that; what `body` fails with counts, not what becomes of the rest. */
  async withBinding(
    body: (binding: Binding, opened: OpenBinding) => Promise<void>,
    open: () => Promise<OpenBinding> = () => this.subject.open(),
  ): Promise<void> {
    const opened = await open();
    let isKept = false;
    try {
      await body(opened.binding, opened);
      isKept = true;
    } finally {
      const closed = this.within(opened.binding.close(), 'close() does not come to an end');
      await (isKept ? closed : closed.catch(() => undefined));
      await opened.release?.();
    }
  }

  withClient(
    body: (client: AnyClient, binding: Binding) => Promise<void>,
    open?: () => Promise<OpenBinding>,
  ): Promise<void> {
    return this.withBinding((binding) => body(this.clientOf(binding), binding), open);
  }

  /** A client that waits as long as the suite does. */
  clientOf(binding: Binding): AnyClient {
    return createClient(binding, { timeoutMs: this.patienceMs });
  }

  /** All views of `operation`, of which the last is final. */
  async viewsOf(client: AnyClient, operation: Operation, levels: Levels = client.levels): Promise<AnyView[]> {
    const views: AnyView[] = [];
    try {
      for await (const view of client.invoke(operation, { levels: levels as [string] })) views.push(view);
    } catch (cause) {
      const message = `${nameOf(operation)}, asked for ${levels.join(', ')}: no final view, but ${tell(cause)}`;
      throw new ContractBreach(message, { cause });
    }
    return views;
  }

  async finalOf(client: AnyClient, operation: Operation, levels?: Levels): Promise<AnyView> {
    return (await this.viewsOf(client, operation, levels)).at(-1)!;
  }

  /** Holds the strongest read of `mark` to showing its update, done once. */
  async shows(client: AnyClient, { update, read, expected }: Mark, what: string): Promise<void> {
    const { value } = await this.finalOf(client, read, [client.strongest]);
    this.same(value, expected, `${nameOf(read)} at ${client.strongest}, after ${nameOf(update)}, ${what}`);
  }

  /** Compares as the test runner does. */
  same(actual: unknown, expected: unknown, what: string): void {
    const difference = this.#difference(actual, expected);
    hold(difference === undefined, () => `${what}: ${show(actual)}, not ${show(expected)}`, difference);
  }

  isSame(actual: unknown, expected: unknown): boolean {
    return this.#difference(actual, expected) === undefined;
  }

  /** Waits for `promise`, and no longer than the suite has patience. */
  async within<T>(promise: PromiseLike<T>, sentence: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(new ContractBreach(`${sentence} (waited for ${this.patienceMs} ms)`));
      timer = setTimeout(giveUp, this.patienceMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Asks until the strongest read shows the update: how long one takes whose end nobody is told is the store's business.
   * Between two questions the event loop gets its turn, without which no time-out of anybody would ever end this.
   */
  async untilShown(client: AnyClient, what: string, { read, expected }: Mark = this.subject): Promise<void> {
    const givesUpAt = performance.now() + this.patienceMs;
    for (;;) {
      const { value } = await this.finalOf(client, read, [client.strongest]);
      if (this.isSame(value, expected)) return;
      hold(
        performance.now() < givesUpAt,
        () =>
          `${what} takes effect once: after ${this.patienceMs} ms the strongest read still gives ` +
          `${show(value)}, not ${show(expected)}`,
      );
      await turn();
    }
  }

  #difference(actual: unknown, expected: unknown): unknown {
    try {
      this.#expect(actual).toEqual(expected);
      return undefined;
    } catch (error) {
      return error ?? new Error('they differ');
    }
  }
}

/** Does `body` with all of them at once; fails, once all have ended, as the first that failed does. */
export async function sideBySide<T>(all: readonly T[], body: (each: T) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(all.map(body));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** One turn of the event loop: all promises that can settle have done so. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
