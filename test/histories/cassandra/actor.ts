/** Who calls: one caller at a seat, all of whose calls go into the history. */
import {
  isCorrectableError,
  type AnyClient,
  type Operation,
  type Session,
} from '../../../src/index.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import type { Call, History, ReportedView } from '../history.ts';
import type { ViewMeta } from './checks/confirmations.ts';
import type { Input } from './inputs.ts';
import type { ClientSession } from './client-session.ts';

/** One call. */
export interface Asked {
  readonly kind: string;
  readonly key: string;
  readonly input: Input;
  readonly operation: Operation<unknown>;
  /** Which views to ask for: both unless given. */
  readonly how?: 'invoke' | 'invokeWeak' | 'invokeStrong';
  /** What a view has, in the plain form of the history; itself unless given. */
  readonly plain?: (value: unknown) => unknown;
  readonly timeoutMs?: number;
}

/** Longer than the binding waits for its coordinator, and a second one. */
const CALL_MS = 15_000;

export class Actor {
  readonly seat: ClientSession;
  readonly random: Random;
  readonly #name: string;
  readonly #history: History;
  readonly #isKept: boolean;
  #kept: { readonly session: Session; readonly take: number } | undefined;

  /** `isRetained`: reads and puts are made in a session. */
  constructor(subscriber: ClientSession, history: History, { name, random, isKept }: ActorParts) {
    this.seat = subscriber;
    this.random = random;
    this.#name = `${subscriber.name}/${name}`;
    this.#history = history;
    this.#isKept = isKept;
  }

  /** Changes with the client: a session ends with it. */
  get session(): string {
    return `${this.#name}.${this.seat.takes}`;
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  /**
   * Resolves, with the call, when it has ended. It is sent, and in the history, when this returns.
   */
  call({
    kind,
    key,
    input,
    operation,
    how = 'invoke',
    plain = same,
    timeoutMs = CALL_MS,
  }: Asked): Promise<Call> {
    const { store } = this.seat;
    const session = this.#sessionOf(store);
    const levels = how === 'invoke' ? {} : { levels: [how === 'invokeWeak' ? 'weak' : 'strong'] };
    const views: ReportedView[] = [];
    const retained = session === undefined ? input : { ...input, isKept: true };
    const description = { session: this.session, kind, key, input: retained, ...levels };
    const call = this.#history.record({ ...description, beginMs: performance.now(), views });
    return new Promise((resolve) => {
      const end = (outcome: string): void => {
        call.endMs = performance.now();
        call.outcome = outcome;
        this.#history.ended(call);
        resolve(call);
      };
      store[how](operation, { timeoutMs, session }).subscribe({
        next({ level, value, confirms }) {
          const meta: ViewMeta = { confirms };
          views.push({ level, value: plain(value), atMs: performance.now(), meta });
        },
        complete() {
          call.output = views.at(-1)?.value;
          end('success');
        },
        error(error: unknown) {
          if (isCorrectableError(error)) call.isRetryable = error.retryable;
          end(isCorrectableError(error) ? error.code : `not translated: ${String(error)}`);
        },
      });
    });
  }

  #sessionOf(store: AnyClient): Session | undefined {
    if (!this.#isKept) return undefined;
    if (this.#kept?.take !== this.seat.takes)
      this.#kept = { session: store.session(), take: this.seat.takes };
    return this.#kept.session;
  }
}

export interface ActorParts {
  readonly name: string;
  readonly random: Random;
  readonly isKept: boolean;
}

function same(value: unknown): unknown {
  return value;
}
