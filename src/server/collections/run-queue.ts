/** What may go on does so one after the other, though each may let others go: however many, they need no stack. */
import { Fifo } from './fifo.ts';

export class RunQueue<T> {
  readonly #ready = new Fifo<T>();
  readonly #run: (item: T) => void;
  #isRunning = false;

  constructor(run: (item: T) => void) {
    this.#run = run;
  }

  /** Runs it, or, where one is being run, has it run after that. */
  add(item: T): void {
    this.#ready.push(item);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) this.#run(next);
    } finally {
      this.#isRunning = false;
    }
  }
}
