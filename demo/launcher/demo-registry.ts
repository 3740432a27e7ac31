/** Demos that start when a visitor first opens them, and close together. */
import type { Demo, RunningDemo } from './demos.ts';

/** What a visitor of a demo meets now. */
export type DemoState =
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'starting'; readonly forMs: number }
  | { readonly kind: 'failed'; readonly failure: unknown };

/** A start that takes longer than this is shown. */
const SHOWN_AFTER_MS = 400;

export class DemoRegistry {
  readonly demos: readonly Demo[];
  readonly #running = new Map<string, Promise<RunningDemo>>();
  readonly #startedAt = new Map<string, number>();
  /** Why the latest start of a demo has failed, until a visitor has seen it. */
  readonly #failures = new Map<string, unknown>();
  #closed = false;

  constructor(demos: readonly Demo[]) {
    this.demos = demos;
  }

  /** Whether a demo has been opened. */
  isOpen(demo: Demo): boolean {
    return this.#running.has(demo.name);
  }

  /**
   * Returns the address of the demo, and starts it if it is not running. If the start fails, a
   * later call tries again.
   */
  async open(demo: Demo): Promise<string> {
    if (this.#closed) throw new Error('The demos are being closed.');
    let running = this.#running.get(demo.name);
    if (running === undefined) {
      running = demo.start();
      this.#running.set(demo.name, running);
      this.#startedAt.set(demo.name, performance.now());
      running.catch((failure: unknown) => {
        this.#running.delete(demo.name);
        this.#failures.set(demo.name, failure);
      });
    }
    return (await running).url;
  }

  /**
   * Starts the demo if it is not running, and returns soon. A failure is returned once: then the
   * next call starts the demo again.
   */
  async openSoon(demo: Demo): Promise<DemoState> {
    if (!this.#failures.has(demo.name)) {
      const soon = new Promise<undefined>((resolve) =>
        setTimeout(resolve, SHOWN_AFTER_MS, undefined),
      );
      const url = await Promise.race([this.open(demo), soon]).catch(() => undefined);
      if (url !== undefined) return { kind: 'running', url };
    }
    if (!this.#failures.has(demo.name)) {
      return { kind: 'starting', forMs: performance.now() - (this.#startedAt.get(demo.name) ?? 0) };
    }
    const failure = this.#failures.get(demo.name);
    this.#failures.delete(demo.name);
    return { kind: 'failed', failure };
  }

  /** Closes all running demos, including those that are being started. */
  async close(): Promise<void> {
    this.#closed = true;
    const started = await Promise.allSettled(this.#running.values());
    await Promise.all(
      started.flatMap((demo) => (demo.status === 'fulfilled' ? [demo.value.close()] : [])),
    );
  }
}
