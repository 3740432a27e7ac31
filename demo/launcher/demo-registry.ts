/** Demos that start when a visitor first opens them, and close together. */
import type { Demo, RunningDemo } from './demos.ts';

export class DemoRegistry {
  readonly demos: readonly Demo[];
  readonly #running = new Map<string, Promise<RunningDemo>>();
  #closed = false;

  constructor(demos: readonly Demo[]) {
    this.demos = demos;
  }

  /** Whether a demo has been opened. */
  isOpen(demo: Demo): boolean {
    return this.#running.has(demo.name);
  }

  /**
   * Returns the address of the demo, and starts it if it is not running. If the start fails, a later call tries again.
   */
  async open(demo: Demo): Promise<string> {
    if (this.#closed) throw new Error('The demos are being closed.');
    let running = this.#running.get(demo.name);
    if (running === undefined) {
      running = demo.start();
      this.#running.set(demo.name, running);
      running.catch(() => this.#running.delete(demo.name));
    }
    return (await running).url;
  }

  /** Closes all running demos, including those that are being started. */
  async close(): Promise<void> {
    this.#closed = true;
    const started = await Promise.allSettled(this.#running.values());
    await Promise.all(started.flatMap((demo) => (demo.status === 'fulfilled' ? [demo.value.close()] : [])));
  }
}
