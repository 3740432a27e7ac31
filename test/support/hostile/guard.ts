/** Watches this process while hostile input comes: uncaught errors, and resources that are left. */
import { readdirSync } from 'node:fs';

type Handler = (...args: unknown[]) => void;
const FATAL = ['uncaughtException', 'unhandledRejection'] as const;

/** Descriptors that are open; 0 where the system does not tell. */
export function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

/** What keeps the process alive, counted by kind. */
export function activeResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** The kinds that a closed gateway or client must not leave behind. */
const WATCHED = ['TCPSocketWrap', 'TCPServerWrap', 'Timeout', 'Immediate', 'TCPConnectWrap'];

/** From its making to its end, errors that would end the process are kept instead. */
export class Guard implements Disposable {
  /** What would have ended the process. */
  readonly fatal: string[] = [];
  readonly #descriptors = descriptors();
  readonly #resources = activeResources();
  readonly #others = new Map<string, Handler[]>();
  readonly #onFatal: Handler = (error) => {
    this.fatal.push(
      String((error as Error)?.stack ?? error)
        .split('\n', 2)
        .join(' '),
    );
  };

  constructor() {
    for (const event of FATAL) {
      this.#others.set(event, process.listeners(event as 'exit') as Handler[]);
      process.removeAllListeners(event);
      process.on(event, this.#onFatal);
    }
  }

  /** What there is more of now than at the beginning. */
  leaks(): string[] {
    const leaks: string[] = [];
    const more = descriptors() - this.#descriptors;
    if (more > 0) leaks.push(`${more} descriptors`);
    const now = activeResources();
    for (const kind of WATCHED) {
      const extra = (now.get(kind) ?? 0) - (this.#resources.get(kind) ?? 0);
      if (extra > 0) leaks.push(`${extra} ${kind}`);
    }
    return leaks;
  }

  /** Waits until nothing is left, at most `withinMs`; returns what is left then. */
  async settled(withinMs: number): Promise<string[]> {
    const untilMs = performance.now() + withinMs;
    while (this.leaks().length > 0 && performance.now() < untilMs) {
      // Polls the system's tables, which send no events.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.leaks();
  }

  [Symbol.dispose](): void {
    for (const event of FATAL) {
      process.off(event, this.#onFatal);
      for (const handler of this.#others.get(event) ?? []) process.on(event, handler);
    }
  }
}

/** The result of `work`, or `late` if that takes longer than `limitMs`: an outer limit for what may hang. */
export async function within<T>(work: Promise<T>, limitMs: number, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => (timer = setTimeout(() => resolve(late), limitMs)));
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
